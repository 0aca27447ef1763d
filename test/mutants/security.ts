/** One-line mutations of the defences. Each one is an attack that works again. */

/** `tests`: paths below `test/`, without `.test.ts`. A test of each must fail. */
export interface Mutant {
  file: string
  /** Text that occurs once in the file. */
  line: string
  instead: string
  tests: string[]
}

type Row = [line: string, instead: string, ...tests: string[]]

const rows: Record<string, Row[]> = {
  // Seals, plans, approvals
  'src/remediate/seal.ts': [
    [
      'if (!(await key.isMac(macInput(name, text), mac))) throw',
      'if (mac === "") throw',
      'remediate/seal',
    ],
    [
      "'highwater.seal/1', name, sha256(text)",
      "'highwater.seal/1', sha256(text)",
      'remediate/seal',
    ],
    [
      'runs\\/[a-f0-9]{16}\\/report\\.json$/.test(key)',
      '.*\\/report\\.json$/.test(key)',
      'remediate/seal',
    ],
  ],
  'src/remediate/plan/policy-approval.ts': [
    [' || now.getTime() >= Date.parse(approval.until)', '', 'remediate/policy-approval'],
  ],
  'src/remediate/plan/file.ts': [
    ['if (written !== planText(plan))', 'if (written === "")', 'remediate/step-truth'],
    [
      'plan.digest !== digest || plan.id !== digest.slice(0, 16)',
      'plan.id === ""',
      'remediate/plan',
      'remediate/approve',
    ],
    [
      'approval.by === byPolicy ? keys.runs : keys.approvals',
      'keys.runs',
      'remediate/approve',
      'pipeline/forgery',
    ],
    ['approval.by.trim().toLowerCase() === byPolicy', 'approval.by === ""', 'remediate/approve'],
  ],
  'src/remediate/plan/step-truth.ts': [
    ['if (foreign !== undefined)', 'if (foreign === "")', 'remediate/step-truth'],
    [
      'new TextBudget(textLimits.plan)',
      'new TextBudget({ ...textLimits.plan, maxTokens: 1e9 })',
      'remediate/step-truth',
    ],
    [
      'if (known !== undefined) return known',
      'if (known === null) return known',
      'remediate/step-truth',
    ],
  ],
  'src/remediate/plan/approve.ts': [
    ['if (Date.parse(now) >= Date.parse(until))', 'if (until === "")', 'remediate/approve'],
    ['Date.parse(until) - Date.parse(at) > longestMs', 'until === ""', 'remediate/approve'],
    ['Date.parse(now) + skewMs < Date.parse(at)', 'at === ""', 'remediate/approve'],
    ['latinWords.test(by) &&', '', 'remediate/approve'],
    ["by === by.normalize('NFKC') &&", '', 'remediate/approve'],
    ['!likePolicy.test(', '(', 'remediate/approve'],
  ],
  'src/remediate/run/journal.ts': [
    [
      'return this.#store.wasWritten(this.#overKey)',
      'return Promise.resolve(false)',
      'pipeline/forgery',
    ],
  ],
  'src/remediate/run/session.ts': [
    [
      'if (!(await store.wasWritten(key))) return null',
      'if (key !== "") return null',
      'remediate/auto-approve',
    ],
  ],
  'src/pipeline/remediation/plan/step-now.ts': [
    ['isPulledFrom(planned, found.source)', 'found', 'pipeline/step-now'],
  ],
  'src/clients/store/s3.ts': [
    ['[...Versions, ...DeleteMarkers]', '[...Versions]', 'clients/store/s3'],
  ],
  'src/clients/store/key-file.ts': [
    ['(mode & 0o777) !== 0o600', 'mode === 0', 'clients/store/key-file'],
  ],
  // What a node accepts
  'src/remediate/scripts/plannable.sh': [
    ['[ -z "$differs" ] ||', 'true ||', 'e2e/scripts/node-refuses'],
  ],
  'src/facts/logrotate.ts': [
    ['`-1|[1-9]', '`-1|[0-9]', 'facts/logrotate'],
    [' && !noLog.test(pattern.toLowerCase())', '', 'facts/logrotate'],
  ],
  'src/clients/aws/run-command.ts': [
    [
      'if (found.sha256 !== sha256)',
      'if (found.sha256 === sha256 && name === "")',
      'remediate/send',
      'clients/aws/run-command',
    ],
  ],
  // Whose answer, whose address, whose rights
  'src/collect/inspect/answer.ts': [
    ['return output.startsWith(beginning)', 'return output.length > 0', 'collect/whole-answer'],
    [
      ".digest('hex') !== sha256",
      ".digest('hex') === ''",
      'collect/inspect',
      'collect/whole-answer',
    ],
    ['if (instanceId !== sentTo)', 'if (sentTo === "")', 'collect/inspect'],
  ],
  'src/discover/discover.ts': [
    ["new URL(server).protocol !== 'https:'", 'server === ""', 'discover/endpoint'],
  ],
  'src/clients/kubernetes/kubernetes.ts': [
    ['endpoint.skipTlsVerification !== true', 'false', 'collect/kubelet'],
    ['checkServerIdentity(name, certificate) === undefined)', 'name !== "")', 'collect/kubelet'],
  ],
  'src/publish/channels/webhook.ts': [
    [
      '!allowedHosts.some(pattern => matchesGlob(pattern, hostname))',
      'hostname === ""',
      'publish/channels/messengers',
    ],
  ],
  'src/pipeline/runtime/runtime.ts': [
    ['!useOwnToken || grants.showsOwnToken', 'true', 'handlers/granted-policy'],
    ['memberRoles.some(pattern => matchesGlob(pattern, role))', 'true', 'handlers/granted-policy'],
    ['inspectOutput.bucket === inspectOutputBucket', 'true', 'handlers/granted-policy'],
  ],
  // Texts that cost more than they are worth
  'src/base/foreign-text.ts': [
    ['    throw first\n', '', 'model/yaml-limits'],
    ['++aliases > maxAliases', 'false', 'model/yaml-limits'],
    ['if (parser.stack.length > maxDepth)', 'if (text === "")', 'model/yaml-limits'],
    ['if (this.#left[what] < 0) throw', 'if (what === undefined) throw', 'model/yaml-limits'],
    ["budget.spend('maxUnpackedBytes', bytes.length)", '', 'clients/user-data'],
  ],
  'src/base/raw-object.ts': [
    ['if (depth > maxDepth)', 'if (depth < 0)', 'base/raw-object'],
    ['if (values > maxValues)', 'if (values < 0)', 'base/raw-object'],
  ],
  'src/base/gzip.ts': [
    ['Math.min(maxBytes, believableBytes)', 'maxBytes', 'collect/inspect'],
    ['if (left < 0)', 'if (left === 0.5)', 'snapshot/snapshot', 'pipeline/fan-out/files'],
  ],
  'src/pipeline/fan-out/files.ts': [
    [
      'settings.policyGrants,\n      ).policy',
      'settings.policyGrants,\n      ) && runtime.parsePolicy(policy, "")',
      'pipeline/fan-out/run-policy',
    ],
    ['nodes.length > maxLines', 'nodes.length < 0', 'pipeline/fan-out/files'],
    ['judgedLineLimit(line.length)', 'judgedLineLimit(1e9)', 'pipeline/fan-out/files'],
  ],
  'src/snapshot/read.ts': [
    ['valuesIn(configz) >', '0 >', 'snapshot/hostile'],
    ['valuesIn(kubelet.files) >', '0 >', 'snapshot/hostile'],
    ['.size > maxClusters', '.size < 0', 'snapshot/snapshot'],
    ['if (line > maxLines)', 'if (line < 0)', 'snapshot/hostile'],
    ['nodes > maxNodes', 'false', 'snapshot/snapshot'],
  ],
  'src/base/limits.ts': [
    [
      '([form]) => form.test(key))?.[1] ?? otherStoredMaxBytes',
      '() => false)?.[1] ?? 1e12',
      'clients/store/store',
    ],
  ],
  'src/pipeline/audit/audit.ts': [
    ['return bytes > maxBytes', 'return false', 'pipeline/audit/document-limits'],
  ],
  // What leaves
  'src/clients/kubernetes/sent-secrets.ts': [
    ['&& clean.includes(form))', '&& form === "")', 'clients/send/webhook'],
    ['mayHaveLong || !', '!', 'clients/kubernetes/sent-secrets'],
  ],
  'src/base/redaction/redact.ts': [
    ['text.replace(pem, removed)', 'text', 'base/redaction/redact'],
    ['.replace(lettersAndDigits, withoutPassword)', '', 'base/redaction/redact'],
    ['clean = withoutNamedSecrets(', 'clean = (', 'base/redaction/redact'],
    [
      'withoutSecretColumns(withoutProgramSecrets(clean))',
      'withoutProgramSecrets(clean)',
      'base/redaction/columns',
    ],
  ],
  'src/base/redaction/visible-text.ts': [
    ['isSecretKey(latin) ? latin : word', 'word', 'base/redaction/redact'],
  ],
  'src/base/redaction/command-secrets.ts': [
    ['found.length === mostArguments', 'found.length === 1', 'base/redaction/redact'],
  ],
  'src/cli/policy.ts': [['if (wide)', 'if (wide === null)', 'cli/policy-commands']],
  'src/clients/kubernetes/kubeconfig.ts': [
    ['if (wanted.length > mostContexts)', 'if (file === "")', 'clients/kubernetes/kubeconfig'],
    ['values.length > mostKeys', 'file === ""', 'clients/kubernetes/kubeconfig'],
    [', { hasUniqueKeys: true }', '', 'clients/kubernetes/kubeconfig'],
    [
      'return JSON.stringify(value)',
      "return readFileSync(file, 'utf8')",
      'clients/kubernetes/kubeconfig',
    ],
    ['redact(messageOf(cause).trim())', 'messageOf(cause)', 'clients/kubernetes/kubeconfig'],
  ],
  'src/replay/predict-timeline.ts': [
    ['budget && budget.steps <= 0', 'budget && isLikelyCourse', 'cli/predict'],
  ],
  'src/base/redaction/paired-secrets.ts': [
    [String.raw`names.split(/[\s,"'[\]]+/)`, "['']", 'base/redaction/redact'],
  ],
  'src/snapshot/prune.ts': [
    ['budget.hasLostFacts || (', 'errors.length > 0 || (', 'snapshot/hostile'],
  ],
  'src/pipeline/fan-out/read-shard.ts': [
    ['...(lost.get(nameIn(record)) ?? []), ', '', 'pipeline/fan-out/spent-budget'],
  ],
  'src/snapshot/shape.ts': [
    [' || Object.keys(value).length > listLimits.mapEntries', '', 'snapshot/hostile'],
  ],
  'src/base/redaction/named-secrets.ts': [
    ['={2,3}|[-=~>]>|', '={2,3}|[-~>]>|', 'base/redaction/redact'],
    [
      'if (noSecret.test(value)) return null',
      'if (noSecret.test(value) && valueLength(value, name, "", "") >= 0) return null',
      'base/redaction/redact',
    ],
  ],
  'src/base/redaction/stated-secrets.ts': [
    ["parts[index + 1] === '' && sign", 'parts.length < 0 && sign', 'base/redaction/redact'],
  ],
  'src/cli/gate.ts': [
    ['=> lstatSync(path', '=> statSync(path', 'cli/gate'],
    ['policyFile(options.policy, base)', 'policyFile(options.policy)', 'cli/gate'],
  ],
  'src/pipeline/gate/judging.ts': [
    ['nodeFindingChanges(before.waived, after.waived)', 'nodeFindingChanges([], [])', 'cli/gate'],
  ],
  'gate/action.yml': [
    ['[ ! -L "$part" ] ||', 'true ||', 'e2e/gate-action'],
    ['rm -rf -- "$OUT/gate.md" "$OUT/gate.sarif"', ':', 'e2e/gate-action'],
  ],
  'test/architecture.test.ts': [
    ["source.text.replaceAll(listed, '')", "''", 'architecture'],
    ["name.trim().split(' as ')[0] ?? ''", 'name.trim()', 'architecture'],
    ['CST|default)$/', 'CST)$/', 'architecture'],
  ],
  'src/judge/subject/node-subject.ts': [
    ['? isNamespaceOfNodeEvents(namespace)', '? true', 'judge/subject/node-subject-cluster'],
    ['subject.namespace === namespace &&', '', 'judge/subject/node-subject-cluster'],
    ["component === 'kubelet' ?", 'true ?', 'judge/subject/node-subject-cluster'],
    ["(place === reporter && place.includes('/'))", 'false', 'judge/subject/node-subject-cluster'],
  ],
  'src/collect/collectors/cluster.ts': [
    ["kind !== 'Node' || isNamespaceOfNodeEvents(namespace)", 'true', 'collect/objects'],
  ],
  'src/model/input/record.ts': [
    [
      'controller === true && /^[A-Za-z]\\w{0,62}$/.test(kind) && isDnsName(name)',
      'controller === true',
      'model/input/controller',
    ],
  ],
  'src/judge/help/host-mounts.ts': [
    ["isPlainPath(place) ? place : 'a path that is not shown'", 'place', 'judge/help/host-mounts'],
    [' && isDnsName(claim)', '', 'judge/help/host-mounts'],
  ],
  'src/pipeline/audit/local-volumes.ts': [
    ['isPlainPath(folder) &&', '', 'pipeline/audit/local-volumes'],
    ['isDnsName(namespace) && isDnsName(name)', 'true', 'pipeline/audit/local-volumes'],
    ['!isOfRuntime(folder)', 'true', 'pipeline/audit/local-volumes'],
  ],
  'src/judge/events/events.ts': [
    ['others.length > 0 ||', 'true ||', 'judge/rules/kernel/slow-runtime'],
  ],
  'src/judge/rules/image-pull/pull-failing-now.ts': [
    ['author === null ? []', 'true ? []', 'judge/rules/image-pull/pull-failing-now'],
    [
      'fact.sandboxImage ?? canonicalName(image)',
      'canonicalName(image)',
      'judge/rules/image-pull/pull-failing-now',
    ],
  ],
  'src/judge/fixes/steps.ts': [
    [' && lost.pods.length <= mostNames', '', 'judge/steps'],
    ["places.some(one => one?.startsWith('-'))", 'places.length === 0', 'judge/steps'],
    ['node && isDnsName(node.name) ? node : null', 'node', 'judge/steps'],
    ['-execdir truncate', '-exec truncate', 'judge/steps'],
    [' && !/[*?[\\]\\\\]/.test(place)', '', 'judge/steps'],
    ["const visible = 'cat -v'", "const visible = 'cat'", 'judge/steps'],
  ],
  'src/judge/fixes/fix-facts.ts': [
    ['isOwn && !this.#claimedTwice', '!this.#claimedTwice', 'judge/fixes/fix-facts'],
    ["|| shell === 'container' ||", '||', 'judge/fixes/fix-facts'],
  ],
  'src/judge/run/tally.ts': [
    ['unlinked(shorten(seen))', 'shorten(seen)', 'judge/run/judge'],
    ['? unlinked(value) :', '? value :', 'judge/run/judge'],
  ],
  'src/judge/text.ts': [
    [
      'export function shorten(text',
      "export const one = JSON.parse('1')\nexport function shorten(text",
      'architecture',
    ],
  ],
  'src/remediate/pods.ts': [
    ['isFull ? uncomparedBudgets(budget.namespace) : budget', 'budget', 'remediate/blockers'],
  ],
  'src/report/formats/sarif.ts': [["? '_' :", "? '..' :", 'report/formats/sarif']],
  'src/report/formats/csv.ts': [['&& formula.test(text)', '&& text === ""', 'report/formats/csv']],
  'src/model/policy/defaults.ts': [['/^(?=[!-~]+$)', '/^', 'policy/policy']],
  'src/policy/parse.ts': [
    ['name === prototypeKey && isNode(key)', 'name === "" && isNode(key)', 'policy/policy'],
  ],
  'src/replay/configuration/start-settings.ts': [
    [
      'if (loads-- <= 0) return null',
      'if (loads < 0) return null',
      'replay/configuration/start-settings',
    ],
    ['found.length === mostUnusual', 'found.length < 0', 'replay/configuration/start-settings'],
  ],
  'templates/report.hbs': [["default-src 'none'", 'default-src *', 'report/html']],
}

export const securityMutants: Mutant[] = Object.entries(rows).flatMap(([file, ofFile]) =>
  ofFile.map(([line, instead, ...tests]) => ({ file, line, instead, tests })),
)
