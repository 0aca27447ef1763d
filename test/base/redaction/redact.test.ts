import { globSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isHarmless, redact, redactTexts } from '#base/redaction/redact.ts'
import { isLinear } from '#test/linear.ts'
import {
  base64,
  doubtfulShapes,
  furtherShapes,
  randomShapes,
  secretShapes,
  secretTokens,
} from '#test/secret-shapes.ts'
import { isSlow } from '#test/slow.ts'

// Test values are put together here, so that no scanner takes them for real ones.
const secret = 'hunter2'
const jwt = `eyJhbGciOiJSUzI1NiJ9.${'eyJzdWIiOiJzeXN0ZW0ifQ'}.c2lnbmF0dXJlLWhlcmU`
const awsKey = `AKIA${'IOSFODNN7EXAMPLE'}`
const awsSecret = `wJalrXUtnFEMI/K7MDENG/${'bPxRfiCYEXAMPLEKEY'}`
const sessionToken = `IQoJb3${'JpZ2luX2VjEHMaCXVzLWVhc3QtMSJ'}`
const github = `ghp_${'a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8'}`
const slack = `xoxb-${'123456789012-abcdefghijkl'}`
const google = `AIza${'SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q'}`
const random = 'q3Zr8LmX1vB7nT5kW9yD2hJ6'
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

describe('a secret in a text', () => {
  it.each([
    ...['glpat-', 'gloas-', 'glrt-', 'glcbt-ab_', 'glptt-', 'glagent-'],
    ...['whsec_', 'rk_live_', 'npm_', 'gho_', 'xapp-'],
  ])('has a public prefix: %s', prefix => {
    expect(redact(`pushing ${prefix}abcdefghij0123456789 failed`)).toBe('pushing (removed) failed')
  })

  it.each([
    ['a JWT', `the token ${jwt} has expired`, 'the token (removed) has expired'],
    [
      'a JWT over lines',
      `got ${jwt}\nc2lnbmF0dXJlLWhlcmUtYWdhaW4\nfailed`,
      'got (removed)\nfailed',
    ],
    ['an access key', `user ${awsKey} may not`, 'user (removed) may not'],
    ['a secret access key', `with ${awsSecret} signed`, 'with (removed) signed'],
    ['a session token', `X ${sessionToken} Y`, 'X (removed) Y'],
    ['an EKS token', 'sent k8s-aws-v1.aHR0cHM6Ly9zdHM', 'sent (removed)'],
    ['a GitHub token', `clone ${github} failed`, 'clone (removed) failed'],
    ['a token behind a percent escape', `a%3A${github}%40h`, 'a%3A(removed)%40h'],
    ['a Slack token', `posting ${slack} failed`, 'posting (removed) failed'],
    ['a Google key', `key of ${google} failed`, 'key of (removed) failed'],
    ['random text', `value ${random} refused`, 'value (removed) refused'],
    [
      'a bearer token',
      `Authorization failed for Bearer ${secret}, retry`,
      'Authorization failed for Bearer (removed), retry',
    ],
    ['basic credentials', 'sent Basic dXNlcjpodW50ZXIy once', 'sent Basic (removed) once'],
    ['a header', `401: Authorization: Bearer ${secret}`, '401: Authorization: (removed)'],
    [
      'a value beside the name of the next one',
      `- name: DB_PASSWORD\n  value: ${secret} x: - key: token\n  value: ${secret}`,
      '- name: DB_PASSWORD\n  value: (removed) x: - key: token\n  value: (removed)',
    ],
    [
      'what stands before the heredoc of a command',
      `cmdkey /pass:${secret} y = <<EOT\n${secret}\nEOT`,
      'cmdkey /pass:(removed) y = <<EOT\n(removed)\nEOT',
    ],
    ['a cookie', `Set-Cookie: a=${secret}; b=${secret}`, 'Set-Cookie: (removed)'],
    ['a value after a bar', `password|${secret}`, 'password|(removed)'],
    ['an invalid value', `token: invalid ${secret}`, 'token: invalid (removed)'],
    ['a statement', `the passwd is ${secret} now`, 'the passwd is (removed) now'],
    ['a quoted password', `password "${secret}" refused`, 'password "(removed)" refused'],
    [
      'a literal',
      `kubectl create --from-literal=pw='${secret} x' -n a`,
      'kubectl create --from-literal=(removed) -n a',
    ],
    ['a flag', `login --password ${secret} host`, 'login --password (removed) host'],
    [
      'a short flag',
      `docker login -u bob -p ${secret} host`,
      'docker login -u bob -p (removed) host',
    ],
    ['a user of curl', `curl -u bob:${secret} https://h/`, 'curl -u (removed) https://h/'],
    ['a percent-encoded pair', `body password%3D${secret} x`, 'body password%3D(removed) x'],
    [
      'JSON',
      `got {\\"password\\":\\"${secret}\\",\\"a\\":1}`,
      'got {\\"password\\":(removed),\\"a\\":1}',
    ],
    [
      'an environment variable in JSON',
      `{"name":"DB","value":"${secret}"}`,
      '{"name":"DB","value":"(removed)"}',
    ],
    [
      'an environment variable as Go prints it',
      `EnvVar{Name:DB,Value:${secret},ValueFrom:nil,}`,
      'EnvVar{Name:DB,Value:(removed),ValueFrom:nil,}',
    ],
    ['a docker config', `{"auths":{"h":{"auth":"${secret}"}}}`, '{"auths":(removed)'],
    [
      'a signed URL',
      `GET "https://h/o?sig=${secret}&sv=1": 403 Forbidden`,
      'GET "https://h/o?(removed)": 403 Forbidden',
    ],
    ['a query of a path', `POST /v1/x?key=${secret} failed`, 'POST /v1/x?(removed) failed'],
    ['a fragment', `https://h/o#access_token=${secret}`, 'https://h/o#(removed)'],
    ['user info of a URL', `https://bob:${secret}@h/v2/`, 'https://h/v2/'],
    [
      'user info of an image',
      `image "bob:${secret}@r.example.com/a:1"`,
      'image "r.example.com/a:1"',
    ],
    [
      'a webhook',
      `POST https://hooks.slack.com/services/T0/B0/${secret}: 404`,
      'POST https://hooks.slack.com/(removed) 404',
    ],
    [
      'an Azure account',
      `AccountName=a;AccountKey=${secret};x`,
      'AccountName=a;AccountKey=(removed)',
    ],
    [
      'a flag joined to its value',
      `mysql -u root -p${secret} shop`,
      'mysql -u root -p(removed) shop',
    ],
    [
      'a joined flag in quotes',
      `/usr/bin/mysqldump -p"${secret} x" --all failed`,
      '/usr/bin/mysqldump -p(removed) --all failed',
    ],
    [
      'a joined flag in a list',
      `exec ["mysqladmin","-p${secret}","ping"] failed`,
      'exec ["mysqladmin","-p(removed)","ping"] failed',
    ],
    [
      'a flag behind a long argument',
      `mysql -e "${'select '.repeat(1_000)}" -p${secret}`,
      `mysql -e "${'select '.repeat(1_000)}" -p(removed)`,
    ],
    ['a flag of sshpass', `sshpass -p ${secret} ssh h`, 'sshpass -p (removed) ssh h'],
    [
      'a flag of redis-cli',
      `["redis-cli","-a","${secret}","ping"]`,
      '["redis-cli","-a","(removed)","ping"]',
    ],
    ['a password of an archive', `unzip -P ${secret} a.zip`, 'unzip -P (removed) a.zip'],
    [
      'a password behind its name',
      `with password ${secret}, retry`,
      'with password (removed) retry',
    ],
    ['a token behind its name', 'token 4f9c2e7ab1 refused', 'token (removed) refused'],
    ['a key behind its name', `bad apikey A1b2C3d4: 403`, 'bad apikey (removed) 403'],
    ['a password of digits', 'password 271828 refused', 'password (removed) refused'],
    ['a quoted token', 'token "correct horse" refused', 'token "(removed)" refused'],
    [
      'an escaped quoted key',
      'api key \\"correct horse\\" refused',
      'api key \\"(removed)\\" refused',
    ],
    [
      'a session of a path',
      `GET https://h/a;jsessionid=${secret} 500`,
      'GET https://h/a;jsessionid=(removed) 500',
    ],
    ['a session of a cookie', `connect.sid=${secret} 500`, 'connect.sid=(removed) 500'],
    [
      'a value on the next line',
      `password=\n${secret}\nfailed at`,
      'password=\n(removed)\nfailed at',
    ],
    [
      'a value of JSON on the next line',
      `{"token":\n  "${secret}",\n"a": 1}`,
      '{"token":\n  (removed),\n"a": 1}',
    ],
    [
      'a block of YAML',
      `secret: |\n  ${secret}\n\n   ${secret} x\nname: web`,
      'secret: (removed)\nname: web',
    ],
    [
      'a block of YAML with escaped line ends',
      `"a:\\n  token: >-\\n    ${secret}\\n    ${secret} x\\n  name: web"`,
      '\\"a:\\n  token: (removed)\\n  name: web\\"',
    ],
    ['a full-width colon', `password：${secret} failed`, 'password:(removed) failed'],
    ['a full-width equals sign', `token＝${secret} failed`, 'token=(removed) failed'],
    [
      'a PEM block',
      `a -----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- b`,
      'a (removed) b',
    ],
    ['a session', 'session=swordfis x', 'session=(removed) x'],
    ['a data source of Go', `app:${secret}@tcp(db:3306)/app`, '(removed)@tcp(db:3306)/app'],
    [
      'a data source of Go with signs',
      `open DB=app:p@/:${secret}@unix(/run/db): refused`,
      'open DB=(removed)@unix(/run/db): refused',
    ],
    [
      'a data source of Oracle',
      `to jdbc:oracle:thin:scott/${secret}@//db:1521/x failed`,
      'to jdbc:oracle:thin:(removed)@//db:1521/x failed',
    ],
    ['a Databricks token', `dapi${'0123456789abcdef'.repeat(2)}`, '(removed)'],
    ['a Shopify token', `shpat_${'0123456789abcdef'.repeat(2)}`, '(removed)'],
    ['a Hugging Face token', `hf_${'abcdefghijklmnopq'.repeat(2)}`, '(removed)'],
    ['a New Relic key', `for NRAK-${'ABCDEFGHI'.repeat(3)}: 403`, 'for (removed): 403'],
    ['an age key', `AGE-SECRET-KEY-1${'QPZRY9X8GF'.repeat(5)} x`, '(removed) x'],
    [
      'a password that is a word',
      'password: correct horse battery',
      'password: (removed) horse battery',
    ],
    ['a token in prose', 'token: hunter refused by it', 'token: (removed) refused by it'],
    ['a secret in prose', 'the secret: hunter was refused', 'the secret: (removed) was refused'],
    ['a password of someone', 'password for bob is hunter', 'password for bob is (removed)'],
    [
      'a password of something',
      "the db's password of v2 is hunter",
      "the db's password of v2 is (removed)",
    ],
    ['a new password', 'password was changed to hunter', 'password was changed to (removed)'],
    ['a set password', 'password set to hunter', 'password set to (removed)'],
    ['a value of a token', "the token's value is hunter", "the token's value is (removed)"],
    ['an access key in prose', 'access key: A1b2C3d4e5 failed', 'access key: (removed) failed'],
    ['a client secret', 'client secret A1b2C3d4e5 failed', 'client secret (removed) failed'],
    ['a refused token', `token: invalid ${secret}`, 'token: invalid (removed)'],
    ['a wrong password', `password: wrong ${secret}`, 'password: (removed) (removed)'],
    [
      'a table behind a message with bars',
      `a | b failed: | user | password |\n| bob | ${secret} |`,
      'a | b failed: | user | password |\n| bob |(removed)|',
    ],
    ['a token that ends the text', 'token: hunter', 'token: (removed)'],
    ['a token in a list', 'token: hunter, user: bob', 'token: (removed) user: bob'],
    ['a token before a field', 'token: hunter user=bob', 'token: (removed) user=bob'],
    ['a token of JSON', '{"token": "correct horse"}', '{"token": (removed)}'],
    ['a header in lower case', 'authorization: token abc', 'authorization: (removed)'],
    ['the hash of a password', 'password-hash: abc', 'password-hash: (removed)'],
    ['a named key', 'api-key: hunter', 'api-key: (removed)'],
    [
      'a refused value before a tab',
      'value "Hunter2xyz9"\tfor flag -password',
      'value (removed)\tfor flag -password',
    ],
    [
      'a refused value before FOR',
      'value "Hunter2xyz9"  FOR flag -password',
      'value (removed)  FOR flag -password',
    ],
    [
      'a refused value in capitals',
      'PARSE PASSWORD AS INT: "Hunter2xyz9"',
      'PARSE PASSWORD AS INT: (removed)',
    ],
    [
      'hexadecimal text',
      `sent:${Buffer.from('password=hunter2').toString('hex')} x`,
      'sent:(removed) x',
    ],
    [
      'a key in hexadecimal',
      `sent ${Buffer.from('hunter2 '.repeat(4)).toString('hex')} x`,
      'sent (removed) x',
    ],
    ['a folded value', 'password=hunter2\n  Zq9xwAbc\nx', 'password=(removed)\nx'],
    ['words of a phrase', 'seed phrase: abandon ability able about', 'mnemonic: (removed)'],
    ['a value that pretends to be removed', 'password=(removed)hunter2 x', 'password=(removed) x'],
    ['half of a PEM block', `a -----BEGIN RSA PRIVATE KEY----- MHc`, 'a (removed)'],
  ])('%s is removed', (_, text, expected) => {
    const clean = redact(text)
    expect(clean).toBe(expected)
    expect(redact(clean)).toBe(clean)
  })
})

describe('a text without a secret', () => {
  it.each([
    `Back-off pulling image "quay.io/team/token:v2"`,
    `111122223333.dkr.ecr.us-east-1.amazonaws.com/shop/web:v1.2.3@${digest}`,
    `docker-pullable://nginx@${digest}`,
    `nginx:1.27@${digest}`,
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 72Mi.',
    'Container web was using 512Mi, request is 256Mi, has larger consumption of memory.',
    'MountVolume.SetUp failed for volume "x" : secret "db-credentials" not found',
    'Unauthorized: the bearer token is expired',
    'User arn:aws:sts::111122223333:assumed-role/highwater-AuditRole-AbC12dEf3GhI/highwater is not authorized',
    'eviction_manager.go:613] "Eviction manager: must evict pod(s) to reclaim" resourceName="memory"',
    'failed to pull and unpack image: 429 Too Many Requests - Server message: toomanyrequests',
    '--feature-gates=KubeletEnsureSecretPulledImages=true,NodeSwap=false',
    'https://docs.aws.amazon.com/eks/latest/userguide/what-is-eks.html',
    'pod web-6d4b9c7f5-abcde_shop(0c0ffee0-1111-2222-3333-444455556666) OOMKilled',
    'https://0123456789ABCDEF0123456789ABCDEF.gr7.us-east-1.eks.amazonaws.com',
    '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs',
    'KubeletHasSufficientMemory',
    'the token expired 2h30m ago, the password changed 3 times',
    'token v1beta1 of tokenrequests, a token 86400s old, password policy sha256',
    'Unexpected token "<!DOCTYPE html>" is not valid JSON',
    'secret "shop-db-7f9c2" not found, secret web-tls-2 not found',
    'password:\nuser: bob',
    'token:\nthe server refused',
    'Back-off restarting mysql -p web',
    'container mysql-0 -p 3306 and mysql:8 -port',
    'MOUNT -p /var/lib/mysql, mkdir -p /var/lib/kubelet',
    'the description: |\n  a text\nthat stays',
    'failed to fetch anonymous token: unexpected status: 401',
    'volume "aws-iam-token" : timed out waiting',
    'volume "db-password" : Operation failed',
    'failed to get secret: secrets "x" is forbidden',
    'unable to rotate credentials: the server could not find',
    'invalid token: signature is invalid',
    'getting credentials: exec plugin: invalid apiVersion',
    'failed to load private key: open /etc/kubernetes/pki/x.key: no such file',
    'no credentials: skipping registry',
    'error getting credentials: executable aws not found',
    'the token is about to expire, the password for it was changed yesterday',
    'password for user is required, password policy of prod is strict',
    'token of service account default is not mounted',
    'secret key not found, private key was created',
    'taint {key: dedicated, value: gpu}',
    'untolerated taint {secret-workers: NoSchedule}',
    'config Auths:map[] Insecure:false',
    'Unable to retrieve pull secret secretName="regcred" err="not found"',
    'imagePullSecrets:\n- name: registry-login\nimage: web',
    'password,user and token are required\nfor the login',
    `--discovery-token-ca-cert-hash ${digest}`,
    `unexpected commit digest ${digest}, expected ${digest}`,
    'failed to fetch anonymous token: open /run/x: no such file or directory',
    'access denied, may require authorization: open /run/x: no such file',
    '"Add annotation" annotationKey="web", labelKey="app" imageKey="x" objectKey="y"',
    'secret:\n  secretName: web-certs\n  defaultMode: 420',
    '{"session":"init","step":1}, then session: open',
    'the Authorization header with Basic credentials is required',
    'password   required     pam_unix.so',
    'password    [success=1 default=ignore]    pam_unix.so',
    'pwd   /var/lib/kubelet/pods, CPU pin   static policy',
    'passwd   files sss',
    'NAME   PASSWORD   AGE',
    'authorization error: digest mismatch for layer',
    'failed authorization with negotiate protocol',
    'proxy authorization required: NTLM handshake failed',
    'authorization mode ABAC, basic configuration',
    'could not find secret key: username',
    'invalid secret key: db-password',
    'volume with secret web-tls, references non-existent secret key: tls.crt',
    // As words, these are usage texts, paths and errors, so only random text is removed from such places.
    'token: invalid signature',
    "token_manager.go: couldn't update token for service account default/default",
    'container name "token_web_default_4a1e0b2c-0d1f-4f5e-9a3b-1c2d3e4f5a6b_0": name is reserved for "a"',
    'pass --password|--token, or a password/token pair',
    'unknown field password|username',
    'aws:///us-east-1a/i-0123456789abcdef0',
  ])('stays: %s', text => {
    expect(redact(text)).toBe(text)
  })
})

describe('a harmless form', () => {
  it.each(['2026-11-21T00:00:00Z', '2026-11-21T00:00:00.123456789Z', '512Mi', 'IfNotPresent'])(
    'is one: %s',
    text => expect(isHarmless(text)).toBe(true),
  )

  it.each(['2026-11-21T00:00:0xZ', '2026-11-21T00:00:00', '2026-11-21 00:00:00Z', 'token=abc'])(
    'is none: %s',
    text => expect(isHarmless(text)).toBe(false),
  )

  it('holds nothing that would be removed from a sentence', () => {
    const words = fc.stringMatching(/^[A-Za-z]{6,16}$/).filter(isHarmless)
    fc.assert(fc.property(words, word => redact(`read ${word}, twice`) === `read ${word}, twice`))
  })
})

describe('notations of secrets', () => {
  const secrets = ['hunter2', 'correcthorse', 'Tr0ub4dor&3', 'pa55-word_x']
  const withDigits = ['hunter2', 'Tr0ub4dor&3']
  /** All in `npm run test:slow`, else two for each notation, in turn. */
  const secretsAt = (index: number) =>
    isSlow ? secrets : secrets.filter((_, place) => place % 2 === index % 2)
  const shapes = [
    ...[...secretShapes, ...furtherShapes].map(
      (shape, index) => [...shape, secretsAt(index)] as const,
    ),
    ...doubtfulShapes.map(shape => [...shape, withDigits] as const),
    ...randomShapes.map(
      shape => [...shape, ['hunter2Zq9xw', 'pA5sw0rDx8', 'aB3,dE6;gH9kZ']] as const,
    ),
  ]

  it.each(shapes)('%s', (_, shape, values) => {
    for (const value of values)
      for (const text of [shape(value), `could not: ${shape(value)}`]) {
        const clean = redact(text)
        expect(clean).not.toContain(value)
        expect(clean).not.toContain(value.slice(2))
        expect(redact(clean)).toBe(clean)
      }
  })

  it.each(shapes)('%s, quoted once more', (_, shape, values) => {
    for (const value of values) {
      const clean = redact(`E1 x.go:1] "Failed" err=${JSON.stringify(`exec ${shape(value)}`)} n=1`)
      expect(clean).not.toContain(value)
      expect(clean).not.toContain(value.slice(2))
      expect(redact(clean)).toBe(clean)
    }
  })

  it.each(shapes)('%s, in base64', (_, shape, values) => {
    for (const value of values) {
      const encoded = base64(shape(value).replaceAll(/[^ -~]/g, ' '))
      expect(redact(`cannot decode ${encoded} here`)).toBe('cannot decode (removed) here')
    }
  })

  it.each(secretTokens)('%s is a token', token => {
    const clean = redact(`pushing ${token} failed`)
    expect(clean).toMatch(/^pushing .*\(removed\)/)
    expect(clean).not.toContain(token.slice(-8))
  })

  it('are at least 960', () => {
    expect(new Set(shapes.map(([title]) => title)).size).toBeGreaterThanOrEqual(960)
  })
})

it('a text that is too long ends between words, not in a token', () => {
  const text = `${'a '.repeat(262_136)}${github}`
  expect(redact(text)).not.toContain('ghp_')
})

it('messages of kubelet and containerd without secrets lose a word in at most 1 of 100', () => {
  const lines = readFileSync('test/fixtures/messages-without-secrets.txt', 'utf8')
    .trim()
    .split('\n')
  expect(lines.length).toBeGreaterThanOrEqual(250)
  const changed = lines.filter(line => redact(line) !== line)
  expect(changed.length / lines.length, changed.join('\n')).toBeLessThanOrEqual(0.01)
})

it('texts of a real kubelet and containerd lose no word', () => {
  const texts = new Set<string>()
  const isShown = /message|reason|note|image|name|path|type/i
  const collect = (value: unknown, key: string): void => {
    if (typeof value === 'string' && isShown.test(key)) texts.add(value)
    if (typeof value !== 'object' || value === null) return
    for (const [inner, part] of Object.entries(value))
      collect(part, Array.isArray(value) ? key : inner)
  }
  for (const file of globSync('test/fixtures/{real,recordings}/*.json'))
    collect(JSON.parse(readFileSync(file, 'utf8')), '')
  expect(texts.size).toBeGreaterThanOrEqual(200)
  expect([...texts].filter(text => redact(text) !== text)).toEqual([])
})

it.each([
  'https://auth.example.org/token?scope=repository%3Alibrary%2Fnginx%3Apull&service=registry.example.org',
  'https://registry.example.com/v2/hooks/app/manifests/v1: 403 Forbidden',
  'https://auth.example.org/token?service=registry.example.org&scope=repository:library/nginx:pull',
])('a refused pull keeps its words and its query: %s', url => {
  const message = `failed to authorize: failed to fetch anonymous token: Get "${url}": dial tcp 192.0.2.1:443: i/o timeout`
  for (const text of [message, `level=info error=${JSON.stringify(message)} host=example.org`])
    expect(redact(text)).toBe(text)
  expect(redact(message.replace('&', '&password=hunter2hunter2&'))).not.toContain('hunter2')
  // A service is the name of a host.
  expect(redact(message.replace(/service=[a-z.]+/, 'service=hunter2hunter2'))).not.toMatch(
    /hunter2/,
  )
})

describe('redactTexts', () => {
  it('keeps names, and removes the values of labels and tags whose names are those of secrets', () => {
    const object = {
      metadata: { name: 'abcdef.0123456789abcdef', labels: { app: 'web', 'db-password': secret } },
      tags: { ApiKey: secret, Team: 'shop' },
    }
    expect(redactTexts(object)).toEqual({
      metadata: {
        name: 'abcdef.0123456789abcdef',
        labels: { app: 'web', 'db-password': '(removed)' },
      },
      tags: { ApiKey: '(removed)', Team: 'shop' },
    })
  })

  it('keeps the credential provider of hybrid nodes, but no secret in its place', () => {
    const label = 'eks.amazonaws.com/hybrid-credential-provider'
    const provider = (value: string) => ({ labels: { [label]: value } })
    expect(redactTexts(provider('ssm'))).toEqual(provider('ssm'))
    expect(redactTexts(provider(`Bearer ${secret}`))).toEqual(provider('Bearer (removed)'))
  })

  it('returns what is clean as it is', () => {
    const clean = { a: ['x', 1, null], b: { c: 'y z' } }
    expect(redactTexts(clean)).toBe(clean)
  })
})

describe('the time that a text takes', () => {
  it('is linear for values that stay, whose length could reach to the end', () => {
    const read = (count: number) => redact('manifest-url=none - - - - - '.repeat(count))
    expect(isLinear(read, 5_000)).toBe(true)
  })

  it.each(['> x ', ''])('is linear for texts that are printed into no secret file: %j', start => {
    const read = (count: number) => redact(`${start}${'echo '.repeat(count)}`)
    expect(isLinear(read, 10_000)).toBe(true)
    const begun = process.cpuUsage()
    read(30_000)
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(600)
  })

  it.each(['/**/ ', '! ', '&a '])('is bounded for %j again and again', piece => {
    expect(redact(`password: ${piece.repeat(100_000)}hunter2`)).not.toContain('hunter2')
  })

  const length = isSlow ? 100_000 : 20_000
  const mostTimes = 20
  const noiseMs = isSlow ? 15 : 3
  const units =
    `a aA1 eyJ :// a://b: ? # % -----BEGIN -----END password token= token: token"= key= \\ name:value: name":"a" a:
    bearer basic login -u --user --from-literal= 8Q~ password=' --token --manifest-url= @ ,a:b rotate exec:" eyJ. mysql␣-p mysql␣"-p" sshpass␣-p redis-cli␣ token␣1 password␣is␣ token␣is␣" token␣" token␣' a:a@ =a:
    aA1bcdefg token␣aA1bcdefg aA1bcdef, username=a: tried␣a: a:b:12345:0:0: machine␣a␣login␣ ...|a":" -name␣a␣ value:␣"a": value:␣|␤ password␣||␣"
    secret:␣|␤␣ secret:␣|\\n␣ password=␤ a=␤ b： (removed)\n
    token␣for␣a token's␣value␣ password␣was␣changed␣to␣ private␣key:␣1 fail␣token:␣a␣b
    token:␣a token:␣a␣b token:␣␣ "key:a key: secret␣"token␣:␣a a:a@tcp( @tcp( a= jdbc:oracle:thin: jdbc:oracle:thin:a@ dapi hf_
    password␣=> password:= password[ password[] "--token"," --token,␣ [--token,␣ --token␤-␣ --token\\␤ password:␣!!str␣ password:␣&a␣ <password> <password␣a <password>< <password><![CDATA[ </a>␤<a> <key>password</key> name="password"> &lt;password&gt; u003cpassword\\u003e password(" PASSWORD"," password="a"'b password='' password=""" password=a"b
    stringData:␤␣a␤ stringData: curl␣-u curl␣-ubob: htpasswd␣-b␣ aws␣configure␣set␣key␣ echo␣a echo␣a␣| identified␣by␣ a.b:1:a:b: localhost:5432:a:b: with␣password␣ login␣a␣password␣ aGVsbG8g aGVs aGVsbG8= $6$ key-0 r8_ \u00a0 \u200b \u001b[ \u001b[31 password\u001b[0m ?timeout=1& a?watch=true& exec:␣"a object-"a"/ ..."db-token":␣failed␣
    passwords:␤-␣a passwords:␤␣␣a:␣b a|token␤|␤ a,token␤a,b␤ echo␣a␣|␣kinit <<<␣ redis-cli␣AUTH␣ sqlplus␣a/ vault␣login␣ vault␣write␣a␣ requirepass␣ smbclient␣-Ua% with␣a␣as␣a ␣|␣ token␣|␣ &quot; key="none" password=none, token="none"x key=none/ getConnection("a", value:" value="x"␣key variable␣"password"{ Password␣for␣a ["password"," SET␣PASSWORD␣FOR␣a SETUSER␣a SETUSER␣a␣b␣ <a: {password, &#34; \\u0022 p\u0430ssword= a\u0301 token:␣invalid␣ pin| "ab" redis-cli␣auth␣ ghp_ AKIA IQoJb3 xox a.b. <a> ?a ?a= &a=`
      .split(/\s+/)
      .map(unit => unit.replaceAll('␣', ' ').replaceAll('␤', '\n'))
  const ends = ['', ' ', '\n', '"']
  const repeated = units.flatMap((unit, index) =>
    ends.filter((_, place) => isSlow || place === index % ends.length).map(end => `${unit}${end}`),
  )
  it.each(repeated)(
    'is linear for repeats of %j',
    // Other work on the machine can slow one measurement, not three; a quadratic text fails each of them.
    { retry: 2 },
    unit => {
      const millisecondsOf = (count: number) => {
        const begun = process.cpuUsage()
        redact(unit.repeat(count))
        return process.cpuUsage(begun).user / 1000
      }
      const count = Math.floor(length / unit.length)
      millisecondsOf(count / 8)
      const long = millisecondsOf(count)
      // Linear would be 8 times as long, quadratic 64 times. Below the noise a short text need not be measured.
      if (long >= mostTimes * noiseMs)
        expect(long).toBeLessThan(mostTimes * millisecondsOf(count / 8))
    },
  )
})

// Source of the forms: the rules of gitleaks, and the vendors' documentation.
it.each([
  ...['nvapi-', 'gsk_', 'p8e-', 'xkeysib-', 'sgp_', 'sm_aat_', 'rdme_', 'mlsn.', 'e2b_', 'NRAA-'],
  ...['NRII-', 'NRJS-', 'tfp_', 'fio-u-', 'duffel_live_', 'dnkey-', 'tk-us-', 'EZAK', 'EZTK'],
])('removes a token that begins with %s', prefix => {
  for (const rest of ['0123456789abcdef'.repeat(3), '0a1b2c3d4e5f60718293'])
    expect(redact(`pull by ${prefix}${rest}: 403`)).toBe('pull by (removed): 403')
})

it.each([
  `v1.0-${'0123456789ab'.repeat(2)}-${'0a'.repeat(73)}`,
  'A3-ABC123-ABC123DEF45-AB12C-AB12C-AB12C',
])('removes the token %s', token => {
  expect(redact(`pull by ${token}: 403`)).toBe('pull by (removed): 403')
})

it.each(['imagePullSecrets: regcred', 'image tag v1.0-alpha of A3-printer', 'widget gsk_node'])(
  'keeps %j',
  text => {
    expect(redact(text)).toBe(text)
  },
)
