/** The walls of the house: who may import whom, and what the pure rooms must not touch. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { engineMutants } from './mutants/engine.ts'
import { securityMutants } from './mutants/security.ts'

const stages = [
  'discover',
  'collect',
  'snapshot',
  'replay',
  'judge',
  'report',
  'publish',
  'remediate',
]
const mayImport: Record<string, string[]> = {
  base: [],
  model: ['base'],
  facts: ['base', 'model'],
  replay: ['base', 'model', 'facts'],
  judge: ['base', 'model', 'facts'],
  snapshot: ['base', 'model'],
  report: ['base', 'model'],
  clients: ['base', 'model', 'facts'],
  discover: ['base', 'model', 'facts', 'clients'],
  collect: ['base', 'model', 'facts', 'clients'],
  publish: ['base', 'model', 'facts', 'clients'],
  remediate: ['base', 'model', 'facts', 'clients', 'asset'],
  pipeline: ['base', ...stages, 'model', 'facts', 'clients', 'asset'],
  // The doors hand shelves (rules, formats, channels) to the pipeline, and print what it returns.
  cli: [
    'base',
    'pipeline',
    ...stages.filter(stage => stage !== 'collect'),
    'asset',
    'clients',
    'facts',
    'model',
    'policy',
    'settings',
  ],
  handlers: [
    'base',
    'pipeline',
    'report',
    'replay',
    'snapshot',
    'clients',
    'model',
    'settings',
    'policy',
  ],
  lab: ['base', 'model', 'facts', 'asset'],
  asset: ['base'],
  policy: ['base', 'model'],
  settings: ['base', 'model'],
}
/** The folders of pipeline/. */
const mayImportInPipeline: Record<string, string[]> = {
  access: [],
  audit: ['access', 'history'],
  doctor: ['audit', 'access'],
  'fan-out': ['audit', 'history', 'runtime'],
  gate: ['audit'],
  history: [],
  remediation: ['audit', 'runtime'],
  runtime: ['audit'],
  service: ['audit', 'fan-out', 'history', 'remediation', 'runtime'],
  tune: ['audit', 'history'],
}
const pureRooms = ['base', 'model', 'facts', 'replay', 'judge', 'report']

interface Source {
  file: string
  room: string
  text: string
  imports: { target: string; isType: boolean }[]
}

const sources: Source[] = globSync('{src,lab}/**/*.{ts,mjs}')
  .filter(file => !file.startsWith('lab/test/'))
  .map(file => {
    const text = readFileSync(file, 'utf8')
    const imports = [
      ...text.matchAll(
        /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[\w*{][^'";]*?\sfrom\s+)?'([^']+)'|import\(\s*'([^']+)'/g,
      ),
    ]
    return {
      file,
      room: file.startsWith('lab/') ? 'lab' : (file.split('/')[1]?.replace(/\.ts$/, '') ?? ''),
      text,
      imports: imports.map(([, type, from, dynamic]) => ({
        target: from ?? dynamic ?? '',
        isType: type !== undefined,
      })),
    }
  })
const roomOf = (target: string) => /^#(\w+)[/.](?!json)/.exec(target)?.[1] ?? null
/** The file that an import line names; null: a package. */
function fileOf(file: string, target: string): string | null {
  if (target.startsWith('./')) return join(dirname(file), target)
  if (target.startsWith('#lab/')) return target.slice(1)
  return target.startsWith('#') ? `src/${target.slice(1)}` : null
}
const pipelineFolder = (file: string | null) => {
  const [, folder, more] = /^src\/pipeline\/([^/]+)(\/)?/.exec(file ?? '') ?? []
  if (folder === undefined) return null
  return more === undefined ? '.' : folder
}
const offenders = (found: Source[], isWrong: (source: Source) => boolean) =>
  found.filter(isWrong).map(({ file }) => file)

/** Files that import each other, directly or through others (Tarjan's strongly connected components). */
function importCycles(): string[][] {
  const files = new Set(sources.map(({ file }) => file))
  const edges = new Map(
    sources.map(({ file, imports }) => [
      file,
      imports.flatMap(({ target }) => fileOf(file, target) ?? []).filter(to => files.has(to)),
    ]),
  )
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): number => {
    const own = index.size
    index.set(file, own)
    low.set(file, own)
    open.push(file)
    for (const to of edges.get(file) ?? []) {
      if (to === file) cycles.push([file])
      if (!index.has(to)) low.set(file, Math.min(low.get(file) ?? own, visit(to)))
      else if (open.includes(to))
        low.set(file, Math.min(low.get(file) ?? own, index.get(to) ?? own))
    }
    if (low.get(file) === own) {
      const members = open.splice(open.indexOf(file))
      if (members.length > 1) cycles.push(members.toSorted())
    }
    return low.get(file) ?? own
  }
  for (const file of files) if (!index.has(file)) visit(file)
  return cycles
}

describe('the walls', () => {
  it('are drawn for every room there is', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect([...new Set(sources.map(({ room }) => room))].sort()).toEqual(
      Object.keys(mayImport).sort(),
    )
  })

  it('see every import that a file has', () => {
    const written = sources.flatMap(({ text }) => [...text.matchAll(/from '(#[^']+)'/g)])
    const seen = sources.flatMap(({ imports }) =>
      imports.filter(({ target }) => target.startsWith('#')),
    )
    expect(seen.length).toBeGreaterThanOrEqual(written.length)
  })

  it.each(Object.entries(mayImport))('%s imports only itself and %j', (room, allowed) => {
    const crossings = sources
      .filter(source => source.room === room && source.file !== 'src/cli/lab.ts')
      .flatMap(({ file, imports }) =>
        imports.map(({ target }) => ({ file, target, to: roomOf(target) })),
      )
      .filter(({ to }) => to !== null && to !== room && !allowed.includes(to))
    expect(crossings).toEqual([])
  })

  it('let only cli/lab.ts know that there is a lab', () => {
    expect(
      offenders(
        sources,
        ({ room, imports }) =>
          room !== 'lab' && imports.some(({ target }) => roomOf(target) === 'lab'),
      ),
    ).toEqual(['src/cli/lab.ts'])
  })

  it('leave no stage that knows another, so no way round the pipeline', () => {
    for (const stage of stages)
      expect(mayImport[stage]?.filter(room => stages.includes(room))).toEqual([])
  })

  it('stand between the folders of the pipeline, too', () => {
    const crossings = sources.flatMap(({ file, imports }) => {
      const from = pipelineFolder(file)
      if (from === null) return []
      const allowed = [from, ...(mayImportInPipeline[from] ?? [])]
      return imports
        .map(({ target }) => ({ file, target, to: pipelineFolder(fileOf(file, target)) }))
        .filter(({ to }) => to !== null && !allowed.includes(to))
    })
    expect(crossings).toEqual([])
    const isOneWay = ([from, allowed]: [string, string[]]) =>
      allowed.every(to => !mayImportInPipeline[to]?.includes(from))
    expect(Object.entries(mayImportInPipeline).every(isOneWay)).toBe(true)
  })

  it('have no cycle of imports, neither of values nor of types', () => {
    expect(sources.some(({ imports }) => imports.some(({ isType }) => isType))).toBe(true)
    expect(importCycles()).toEqual([])
  })

  // Pure caches by text are functions of base/once.ts.
  it('keep no mutable state in modules, but for connections', () => {
    const states = sources
      .filter(({ room }) => room !== 'clients' && room !== 'lab')
      .flatMap(({ file, text }) =>
        (
          text.match(
            /^(?:export )?(?:let |(?:const) [^=\n]* = (?:new (?:Map|Set|WeakMap|WeakSet)(?:<[^\n]*>)?\(\)|\[\]|\{\})$).*/gm,
          ) ?? []
        ).map(state => `${file}: ${state}`),
      )
    const changeable = states.filter(state => !/: readonly |PodResources/.test(state))
    expect(changeable).toEqual(['src/handlers/lambda.ts: let isColdStart = true'])
  })

  it('assign to no object or list of a module', () => {
    const writes = sources
      .filter(({ room }) => room !== 'clients' && room !== 'lab')
      .flatMap(({ file, text }) =>
        [...text.matchAll(/^(?:export )?const (\w+)[^=\n]* = [{[]/gm)].flatMap(([, name]) => {
          const changed = `(?<![\\w.#])${name}(?:\\.\\w+|\\[[^\\]]+\\])`
          const isImported = new RegExp(`^import [^']*\\b${name}\\b`, 'm')
          const write = new RegExp(
            `^.*(?:${changed}+ [^\\w\\s=!<>]{0,3}=(?!=)|(?<![\\w.#])${name}\\.(?:push|splice|pop|shift|unshift|sort)\\(|assign\\(${name}\\b).*`,
            'gm',
          )
          return sources
            .filter(user => user.file === file || isImported.test(user.text))
            .flatMap(user => user.text.match(write)?.map(line => `${user.file}: ${line}`) ?? [])
        }),
      )
    expect(writes).toEqual([])
  })

  it('have no way round: no room exports what another room exports', () => {
    const reexports = sources.flatMap(({ file, text, room }) =>
      [...text.matchAll(/^export [^;=(]*?\sfrom '(#[^']+)'/gm)]
        .map(([, target = '']) => ({ file, target, to: roomOf(target) }))
        .filter(({ to }) => to !== room),
    )
    expect(reexports).toEqual([])
  })

  it('are those of the table in ARCHITECTURE.md', () => {
    const rows = [
      ...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(
        /^\| (`(?:src|lab)\b.*?) \|.*\| (.*?) \|$/gm,
      ),
    ]
    const roomsOf = (text: string) =>
      text.split(', ').flatMap(name => {
        if (!name.startsWith('every stage')) return name === 'nothing' ? [] : [name]
        return stages.filter(stage => !name.endsWith(` but ${stage}`))
      })
    const written = rows.flatMap(([, names = '', allowed = '']) =>
      [...names.matchAll(/`(?:src\/)?(\w+)(?:\.ts)?`/g)].map(([, room = '']) => [
        room,
        roomsOf(allowed).sort(),
      ]),
    )
    const others = Object.entries(mayImport).map(([room, allowed]) => [
      room,
      allowed.filter(name => name !== 'base').sort(),
    ])
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(others))
  })

  it('let the command line see of remediation only the files of a plan and their seal', () => {
    const seen = sources
      .filter(({ room }) => room === 'cli')
      .flatMap(({ imports }) => imports.map(({ target }) => target))
      .filter(target => target.startsWith('#remediate/'))
    const files = [/^#remediate\/plan\//, /^#remediate\/seal\.ts$/]
    expect(seen.filter(target => !files.some(file => file.test(target)))).toEqual([])
  })

  it('show every step through a door in the import line', () => {
    expect(
      offenders(sources, ({ imports }) => imports.some(({ target }) => target.startsWith('../'))),
    ).toEqual([])
  })
})

/** Names of an import that lists them, without aliases. */
const namesOf = ({ text }: Pick<Source, 'text'>, from: RegExp) =>
  [...text.matchAll(/^import\s+\{([^}]*)\}\s+from\s+'([^']+)'/gm)]
    .filter(([, , target = '']) => from.test(target))
    .flatMap(([, names = '']) => names.split(',').map(name => name.trim().split(' as ')[0] ?? ''))
/** In each other form, a name of a whole module, or one that is handed on, cannot be seen. */
const listed = /^import\s+(?:type\s+)?\{[^}]*\}\s+from\s+'(?:yaml|smol-toml)'$/gm
const parserNames = /^(parse\w*|Parser|Composer|Lexer|CST|default)$/
const hasParser = (source: Pick<Source, 'text'>) =>
  namesOf(source, /^(yaml|smol-toml)$/).some(name => parserNames.test(name)) ||
  /\b(?:from|import)\s*\(?\s*(['"`])(?:yaml|smol-toml)\1|\(\s*(['"`])(?:yaml|smol-toml)\2\s*\)/.test(
    source.text.replaceAll(listed, ''),
  )

describe('the doors to the outside', () => {
  it('open one vendor package in one file of clients/', () => {
    const users = new Map<string, string[]>()
    for (const { file, imports } of sources)
      for (const { target, isType } of imports)
        if (!isType && /^@(aws-sdk|aws-crypto|smithy|kubernetes)\//.test(target))
          users.set(target, [...(users.get(target) ?? []), file])
    expect(users.size).toBeGreaterThan(3)
    for (const [target, files] of users)
      expect({ target, files }).toEqual({
        target,
        files: [expect.stringMatching(/^src\/clients\/(?:aws|kubernetes|send|store)\/[\w-]+\.ts$/)],
      })
  })

  it.each([
    "import YAML from 'yaml'",
    "import * as Y from 'yaml'",
    "import { parse as read } from 'yaml'",
    "import { default as read } from 'yaml'",
    "import {\n  isMap,\n  parseDocument,\n} from 'yaml'",
    'import { parse } from "smol-toml"',
    "export { parse } from 'yaml'",
    "export * from 'yaml'",
    "const { parse } = await import('yaml')",
    'const { parse } = await import(`yaml`)',
    "createRequire(import.meta.url)('yaml')",
    "process.getBuiltinModule('module').createRequire('/')('smol-toml')",
    "import 'yaml'; import { isMap } from 'yaml'",
    "import YAML, { isMap } from 'yaml'",
  ])('see that a file opens a parser by %j', text => {
    expect(hasParser({ text })).toBe(true)
  })

  it('see that a file takes only names of a parser', () => {
    const text = "import { type Document, isMap as isMapNode, LineCounter } from 'yaml'\n"
    expect(hasParser({ text })).toBe(false)
    expect(hasParser({ text: "import type { Document } from 'yaml'\nconst kind = 'toml'" })).toBe(
      false,
    )
  })

  // Others read texts of this program, or texts that parsedJson or jsonFlaw bounded.
  it('parse JSON in known files only: foreign text goes through parsedJson and jsonFlaw', () => {
    const parses = ({ room, text }: Source) =>
      room !== 'lab' &&
      /^(?! *(?:\/\*|\*|\/\/)).*(?:\bJSON\??\.parse\b|\bJSON\[|= JSON\b(?!\.)|\.json\(\))/m.test(
        text,
      )
    expect(offenders(sources, parses).toSorted()).toEqual([
      'src/asset.ts',
      'src/base/once.ts',
      'src/base/raw-object.ts',
      'src/cli/lab.ts',
      'src/cli/upgrade.ts',
      'src/clients/aws/eks.ts',
      'src/clients/kubernetes/kubernetes-answer.ts',
      'src/clients/user-data/shell.ts',
      'src/collect/inspect/answer.ts',
      'src/judge/compare/history/ledger.ts',
      'src/judge/drift/drift.ts',
      'src/pipeline/audit/kept-file.ts',
      'src/pipeline/audit/saved/saved-findings.ts',
      'src/pipeline/fan-out/files.ts',
      'src/pipeline/gate/documents.ts',
      'src/pipeline/remediation/run/running.ts',
      'src/remediate/plan/policy-approval.ts',
      'src/replay/cluster-gc/section.ts',
      'src/replay/eviction/thresholds.ts',
      'src/snapshot/read.ts',
    ])
  })

  it('parse foreign YAML, TOML and gzip in one file each', () => {
    const shipped = sources.filter(({ room }) => room !== 'lab')
    expect(offenders(shipped, hasParser)).toEqual(['src/base/foreign-text.ts'])
    const other = /^(js-yaml|toml|@iarna\/toml|yamljs|fast-xml-parser)$|^(yaml|smol-toml)\//
    const imports = (source: Source) => source.imports.some(({ target }) => other.test(target))
    expect(offenders(shipped, imports)).toEqual([])
    const packs = /^(gzipSync|createGzip|deflateRawSync|constants)$/
    const unpacks = (source: Source) =>
      namesOf(source, /^(node:)?zlib$/).some(name => !packs.test(name)) ||
      /\bDecompressionStream\b/.test(source.text)
    expect(offenders(shipped, unpacks)).toEqual(['src/base/gzip.ts'])
    // What this program packed itself has no limit.
    const own = /\b(?:inflateOwn|unpackOwn)\b/
    expect(offenders(shipped, ({ text }) => own.test(text)).toSorted()).toEqual([
      'src/asset.ts',
      'src/base/gzip.ts',
      'src/replay/cluster-gc/section.ts',
    ])
    // A name of a whole module cannot be seen.
    const byName = /^import\s+\{[^}]*\}\s+from\s+'node:zlib'$/gm
    const opens = ({ text }: Source) => /['"](?:node:)?zlib['"]/.test(text.replaceAll(byName, ''))
    expect(offenders(shipped, opens)).toEqual([])
  })

  it('are closed in the core: no network, files, environment, clock or chance', () => {
    const core = sources.filter(({ room }) => pureRooms.includes(room))
    // A hash is a function, and so is compression; everything else of Node has an effect or reads one.
    const allowedBuiltins = ['node:crypto', 'node:zlib']
    const isBuiltin = ({ target }: { target: string }) =>
      target.startsWith('node:') && !allowedBuiltins.includes(target)
    expect(offenders(core, ({ imports }) => imports.some(isBuiltin))).toEqual([])
    expect(
      offenders(core, ({ text }) =>
        /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now|process\.(env|argv|cwd)|\bfetch\(|randomUUID/.test(
          text,
        ),
      ),
    ).toEqual([])
  })

  it('lead to a node that is changed through one file', () => {
    expect(
      offenders(
        sources,
        ({ room, text }) => room !== 'facts' && /\bapplyDocumentHashes\b/.test(text),
      ).toSorted(),
    ).toEqual([
      // It looks whether they are there: below, only the other one sends.
      'src/pipeline/doctor/ssm.ts',
      'src/remediate/run/apply.ts',
    ])
    expect(offenders(sources, ({ text }) => /\bnew Applier\(/.test(text))).toEqual([
      'src/pipeline/remediation/run/remediate.ts',
    ])
    expect(
      offenders(
        sources,
        ({ room, text }) => room !== 'clients' && /\bnew RunCommand\(/.test(text),
      ).toSorted(),
    ).toEqual(['src/collect/inspect/inspector.ts', 'src/remediate/run/apply.ts'])
  })

  it('read the environment only in clients and the command line', () => {
    expect(
      offenders(
        sources,
        ({ room, text }) =>
          /process\.env/.test(text) && !['clients', 'cli', 'handlers'].includes(room),
      ),
    ).toEqual([])
  })
})

describe('the habits', () => {
  it('compare a version only in facts/', () => {
    const compares =
      /\bminor\s*(?:[<>]=?|[!=]==(?!\s*null))|[<>]=?\s*\w*\.?minor\b|[<>]=?\s*(?:\w+\.)?rulesOfMinor|rulesOfMinor\s*[<>]|kubeletVersion\s*(?:[<>]=?)|\bsemver\b/
    const isForeign = ({ room, text }: Source) => room !== 'facts' && compares.test(text)
    expect(offenders(sources, isForeign)).toEqual([])
  })

  it('export by name', () => {
    expect(offenders(sources, ({ text }) => /^export default/m.test(text))).toEqual([])
  })

  it('keep no state in a module but for clients, and no cache by identity', () => {
    const keeps = ({ room, file, text }: Source) =>
      room !== 'clients' &&
      room !== 'lab' &&
      // A function of AWS Lambda is cold once.
      file !== 'src/handlers/lambda.ts' &&
      /^(export )?let (?!entry)|^(export )?const \w+(: (Map|Set)<.+)? = new (Map|Set)(<.*>)?\(\)|new Weak(Map|Set)/m.test(
        text,
      )
    expect(offenders(sources, keeps)).toEqual([])
  })

  it('write no accessor into an object literal: V8 makes such objects slowly', () => {
    const openers = (text: string) => {
      const lines = text.split('\n')
      return lines.flatMap((line, at) => {
        const [, indent] = /^( +)get \w+\(\)/.exec(line) ?? []
        if (indent === undefined) return []
        const isOpener = (before: string) =>
          before.trim() !== '' && before.search(/\S/) < indent.length
        return lines.slice(0, at).findLast(isOpener) ?? ''
      })
    }
    const inLiterals = sources.flatMap(({ file, text }) =>
      openers(text).flatMap(opener => (/\bclass /.test(opener) ? [] : `${file}: ${opener}`)),
    )
    // Once for each language.
    expect([...new Set(inLiterals)]).toEqual([
      'src/report/languages/language.ts: export const languages: Record<LanguageId, Language> = {',
    ])
  })

  it('set the flags of V8 in one place: each other place that starts Node repeats them', () => {
    const read = (file: string) => readFileSync(file, 'utf8')
    const flagsIn = (text: string | undefined) => text?.match(/--[\w-]+=\d+/g)
    const own = flagsIn(read('bin/highwater.mjs').split('\n')[0])
    expect(own).toHaveLength(3)
    const demo = /"demo": "([^"]+)"/.exec(read('package.json'))?.[1]
    const container = /ENTRYPOINT .*/.exec(read('docs/run/container/Dockerfile'))?.[0]
    expect([demo, container].map(flagsIn)).toEqual([own, own])
  })

  it('set flags of V8 only at the start', () => {
    const setters = sources.filter(({ text }) =>
      /\b(?:setFlagsFromString|keepHeapSmall)\(/.test(text),
    )
    expect(setters.map(({ file }) => file).sort()).toEqual([
      'src/cli/main.ts',
      'src/handlers/lambda.ts',
      'src/pipeline/runtime/heap.ts',
    ])
  })

  it('make no code from texts', () => {
    expect(offenders(sources, ({ text }) => /\bnew Function\b|\beval\(/.test(text))).toEqual([])
  })

  it('keep no stack of unnamed things', () => {
    expect(
      sources
        .map(({ file }) => file)
        .filter(file => /\/(utils?|common|misc|helpers?|manager)\b/.test(file)),
    ).toEqual([])
  })
})

it.each([...securityMutants, ...engineMutants])(
  'the mutant of $file finds its line once: $line',
  ({ file, line }) => {
    expect(readFileSync(file, 'utf8').split(line)).toHaveLength(2)
  },
)
