/** Notations in which a secret can stand in a message. Each takes the secret and gives the text. */
import { readFileSync } from 'node:fs'

type Shape = readonly [title: string, text: (secret: string) => string]

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
const nbsp = '\u00a0'

const shell: Shape[] = [
  ['a variable', s => `export DB_PASSWORD=${s}`],
  ['a variable before a program', s => `PGPASSWORD=${s} psql -h db failed`],
  ['a variable in quotes', s => `docker run -e 'DB_PASSWORD=${s} x' app`],
  ['a variable of PowerShell', s => `$env:DB_PASSWORD = "${s}"`],
  ['a variable of cmd', s => `SET "DB_PASSWORD=${s}"`],
  ['a flag', s => `login --password ${s} host`],
  ['a flag with a sign', s => `login --password=${s} host`],
  ['a flag in single quotes', s => `login --password '${s} x' host`],
  ['a word of two quoted parts', s => `login --password="ab"'${s}' host`],
  ['a word of a bare and a quoted part', s => `login --password=ab'${s} x' host`],
  ['a word of a quoted and a bare part', s => `login --password='ab'${s} host`],
  ['a dollar quote', s => `login --password=$'ab${s}' host`],
  ['a flag on two lines', s => `login --password \\\n  ${s} \\\n  host`],
  ['a flag after a NUL, as in cmdline', s => `login\0--password\0${s}\0host`],
  ['a flag with a no-break space', s => `login --password${nbsp}${s} host`],
  ['a flag joined to the value', s => `mysqldump -uroot -p${s} shop`],
  ['a user of curl', s => `curl -u bob:${s} https://example.com/`],
  ['a joined user of curl', s => `curl -ubob:${s} https://example.com/`],
  ['a quoted user of curl', s => `curl --user 'bob:${s}' https://example.com/`],
  ['a password of wget', s => `wget --http-password=${s} https://example.com/`],
  ['a header of curl', s => `curl -H 'X-Api-Key: ${s}' https://example.com/`],
  ['a tag of AWS', s => `{"Key":"db_password","Value":"${s}"}`],
  ['a parameter of CloudFormation', s => `{"ParameterKey":"DbPassword","ParameterValue":"${s}"}`],
  ['a key and a value in YAML', s => `- key: password\n  value: ${s}`],
  ['an entry of XML', s => `<entry key="db.password">${s}</entry>`],
  ['a heredoc', s => `password = <<EOT\n${s}\nEOT`],
  ['a heredoc without its end', s => `password = <<EOT\nsecond line\n${s}`],
  ['an element of a namespace', s => `<wsse:Password Type="x">${s}</wsse:Password>`],
  ['an element with the value first', s => `<add value="${s}" key="password"/>`],
  ['a variable with the value first', s => `{"value":"${s}","name":"DB_PASSWORD"}`],
  ['a variable of YAML with the value first', s => `- value: ${s}\n  name: DB_PASSWORD`],
  ['a variable of Terraform', s => `variable "db_password" { default = "${s}" }`],
  [
    'data of a Secret',
    s => `{"data":{"x":"${base64(`${s}${'a'.repeat(3 - (s.length % 3))}`)}"},"kind":"Secret"}`,
  ],
  ['a prompt with its answer', s => `Password for bob: ${s}`],
  ['a switch of Windows', s => `app.exe /password:${s} /u:bob`],
  ['a pair in brackets', s => `[["password","${s}"]]`],
  ['a tuple', s => `('password', '${s}')`],
  ['a statement of MySQL', s => `SET PASSWORD FOR bob = '${s}'`],
  ['a statement of Oracle', s => `ALTER USER bob IDENTIFIED BY VALUES '${s}'`],
  ['the third argument of JDBC', s => `getConnection("jdbc:mysql://h/d", "root", "${s}")`],
  ['the third argument of PDO', s => `new PDO('mysql:host=db', 'root', '${s}')`],
  ['the second argument of auth', s => `db.auth("bob", "${s}")`],
  ['a user of Redis', s => `ACL SETUSER bob on >${s} ~* +@all`],
  ['a pipe to gpg', s => `echo ${s} | gpg --batch --passphrase-fd 0 -d a`],
  ['an activation code', s => `nodeadm init --activation-code ${s}`],
  ['a key of Vault', s => `vault operator unseal ${s}`],
  ['a key of Vault in a list', s => `Unseal Key 1: ${s}`],
  ['a name without a separator', s => `DBPASS=${s} smtppass: ${s}`],
  ['credentials of crictl', s => `crictl pull --creds bob:${s} reg/a:1`],
  ['credentials of skopeo', s => `skopeo copy --src-creds bob:${s} docker://a`],
  ['an empty user of curl', s => `curl -sSu ':${s}' example.com`],
  ['standard input', s => `echo "${s}" | docker login -u bob --password-stdin example.com`],
  ['sshpass', s => `sshpass -p ${s} ssh host`],
  ['openssl', s => `openssl rsa -in a.pem -passin pass:${s} -out b.pem`],
  ['htpasswd', s => `htpasswd -bn bob ${s}`],
  ['a value of Helm', s => `helm upgrade web --set db.password=${s},image.tag=v1`],
  ['a literal of kubectl', s => `kubectl create secret generic a --from-literal=x=${s}`],
  ['a setting of the AWS CLI', s => `aws configure set aws_secret_access_key ${s}`],
  ['wpa_passphrase', s => `wpa_passphrase net ${s}`],
  ['a process substitution', s => `cryptsetup --key-file <(echo ${s}) open x`],
  ['a user of lftp', s => `lftp -u bob,${s} host`],
  ['a secure string', s => `ConvertTo-SecureString "${s}" -AsPlainText -Force`],
  ['cmdkey', s => `cmdkey /add:host /user:bob /pass:${s}`],
  ['a share of net use', s => `net use \\\\host\\share ${s} /user:bob`],
  ['cqlsh', s => `cqlsh -u bob -p ${s}`],
  ['twine', s => `twine upload -u __token__ -p ${s} dist/a`],
  ['a secret of Pulumi', s => `pulumi config set --secret dbPassword ${s}`],
  ['ngrok', s => `ngrok config add-authtoken ${s}`],
  ['doctl', s => `doctl auth init -t ${s}`],
  ['a refresh token of gcloud', s => `gcloud auth activate-refresh-token bob ${s}`],
  ['a here-string of gh', s => `gh auth login --with-token <<< ${s}`],
  ['a root of CVS', s => `cvs -d :pserver:bob:${s}@host:/root login`],
  ['composer', s => `composer config http-basic.example.com bob ${s}`],
  ['cargo', s => `cargo login ${s}`],
]

const lists: Shape[] = [
  ['a JSON list', s => `["login","--password","${s}","host"]`],
  ['a JSON list with spaces', s => `["login", "--password", "${s}", "host"]`],
  ['an escaped JSON list', s => `[\\"login\\",\\"--password\\",\\"${s}\\"]`],
  ['a list in single quotes', s => `['login', '--password', '${s}']`],
  ['a list without quotes', s => `[login, --db-password, ${s}, host]`],
  ['a list as Go prints it', s => `[login --password ${s} host]`],
  ['a list of Go', s => `[]string{"login", "--password", "${s}"}`],
  ['a YAML list', s => `args:\n- --password\n- ${s}\n- host`],
  ['a YAML list in quotes', s => `args:\n  - "--password"\n  - "${s}"\n  - host`],
  ['a list with a joined flag', s => `exec ["mysqladmin","-p${s}","ping"] failed`],
  ['elements of XML', s => `<arg>--password</arg><arg>${s}</arg>`],
  ['a header in a list', s => `["Authorization","Bearer ${s}"]`],
  ['a header as Go prints it', s => `map[Authorization:[Bearer ${s}] Accept:[*/*]]`],
]

const fields: Shape[] = [
  ['a field', s => `password=${s}`],
  ['a field with padding', s => `AccountKey=${s}==;EndpointSuffix=a`],
  ['a field with a space', s => `password= ${s}`],
  ['a hash rocket', s => `password => "${s}"`],
  ['a tight hash rocket', s => `{"password"=>"${s}"}`],
  ['a hash rocket without quotes', s => `:password => ${s}`],
  ['an assignment of Go', s => `password := "${s}"`],
  ['an assignment of make', s => `PASSWORD?=${s}`],
  ['an appended value', s => `password+=${s}`],
  ['a comparison', s => `password == "${s}"`],
  ['a strict comparison', s => `password === '${s}'`],
  ['an arrow', s => `password -> ${s}`],
  ['a field of a form', s => `password[]=${s}`],
  ['a numbered field of a form', s => `password[0]=${s}`],
  ['a field of an environment', s => `os.environ["DB_PASSWORD"] = "${s}"`],
  ['a call', s => `setPassword("${s}")`],
  ['a constant of PHP', s => `define('DB_PASSWORD', '${s}');`],
  ['JSON', s => `{"password":"${s}","a":1}`],
  ['JSON with spaces', s => `{ "password" : "${s}" }`],
  ['JSON over lines', s => `{\n  "password":\n    "${s}"\n}`],
  ['escaped JSON', s => `{\\"password\\":\\"${s}\\"}`],
  ['twice escaped JSON', s => `{\\\\\\"password\\\\\\":\\\\\\"${s}\\\\\\"}`],
  ['percent-encoded JSON', s => `body=%7B%22password%22%3A%22${s}%22%7D`],
  ['JSON with a list', s => `{"passwords":["a","${s}"]}`],
  ['YAML', s => `password: ${s}\nuser: bob`],
  ['YAML with a tag', s => `password: !!str ${s}`],
  ['YAML with a tag and quotes', s => `password: !!str "${s}"`],
  ['YAML with a binary tag', s => `password: !!binary |\n  ${s}\nuser: bob`],
  ['YAML with an anchor', s => `password: &p ${s}`],
  ['YAML with an anchor and a tag', s => `password: &p !!str ${s}`],
  ['YAML with an explicit key', s => `? password\n: ${s}`],
  ['a block of YAML', s => `password: |-\n  ${s}\nuser: bob`],
  ['an environment variable of YAML', s => `- name: DB_PASSWORD\n  value: ${s}`],
  ['an environment variable in a list', s => `{name: DB, value: ${s}}`],
  ['INI', s => `[client]\nuser = bob\npassword = ${s}`],
  ['INI with a tab', s => `password\t=\t${s}`],
  ['TOML with three quotes', s => `password = """${s}"""`],
  ['TOML with three single quotes', s => `password = '''${s}'''`],
  ['a Go struct', s => `{Username:bob Password:${s} Auth:}`],
  ['a Java object', s => `Config(user=bob, password=${s})`],
  ['a Python dictionary', s => `{'user': 'bob', 'password': '${s}'}`],
  ['XML', s => `<user>bob</user><password>${s}</password>`],
  ['XML with an attribute', s => `<password type="text">${s}</password>`],
  ['XML with CDATA', s => `<password><![CDATA[${s}]]></password>`],
  ['an attribute of XML', s => `<db user="bob" password="${s}"/>`],
  ['a named property of XML', s => `<property name="password">${s}</property>`],
  ['a named value of XML', s => `<add key="password" value="${s}"/>`],
  ['escaped XML', s => `&lt;password&gt;${s}&lt;/password&gt;`],
  ['a property list', s => `<key>password</key><string>${s}</string>`],
  ['a no-break space', s => `password:${nbsp}${s}`],
  ['no-break spaces around a sign', s => `password${nbsp}=${nbsp}${s}`],
  ['full-width signs', s => `ｐａｓｓｗｏｒｄ：${s}`],
  ['a zero-width space', s => `pass\u200bword=${s}`],
  ['a colour', s => `\u001b[1mpassword\u001b[0m: \u001b[31m${s}\u001b[0m`],
  ['a name with a colon in a URL', s => `jdbc:sqlserver://db;user=sa;password=${s};encrypt=true`],
]

const files: Shape[] = [
  ['.netrc', s => `machine example.com login bob password ${s}`],
  ['.netrc over lines', s => `machine example.com\n  login bob\n  password ${s}`],
  ['.pgpass', s => `db.example.com:5432:shop:bob:${s}`],
  ['.npmrc', s => `//registry.example.com/:_authToken=${s}`],
  ['.aws/credentials', s => `[default]\naws_secret_access_key = ${s}`],
  ['a Docker configuration', s => `{"auths":{"example.com":{"auth":"${s}"}}}`],
  ['a Secret of Kubernetes', s => `kind: Secret\nstringData:\n  a: ${s}`],
  ['a Secret as JSON', s => `{"kind":"Secret","stringData":{"a":"${s}"}}`],
]

const headers: Shape[] = [
  ['a bearer token', s => `Authorization: Bearer ${s}`],
  ['basic credentials of a proxy', s => `Proxy-Authorization: Basic ${s}`],
  ['a signature of AWS', s => `Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=${s}`],
  ['a cookie', s => `Cookie: theme=dark; session=${s}`],
  ['a key', s => `X-Api-Key: ${s}`],
  ['a token of Vault', s => `X-Vault-Token: ${s}`],
  ['a token of GitLab', s => `PRIVATE-TOKEN: ${s}`],
  ['a subscription', s => `Ocp-Apim-Subscription-Key: ${s}`],
]

const addresses: Shape[] = [
  ['a user of a URL', s => `https://bob:${s}@example.com/v2/`],
  ['a password without a user', s => `redis://:${s}@cache:6379/0`],
  ['a token as the user', s => `git clone https://${s}@github.com/a/b`],
  ['a database', s => `postgres://bob:${s}@db:5432/shop?sslmode=require`],
  ['a database with a signature', s => `mongodb+srv://bob:${s}@db.example.com/shop`],
  ['a query', s => `GET https://example.com/a?password=${s}&b=1: 403`],
  ['a signed link', s => `https://example.com/o?X-Amz-Credential=a&X-Amz-Signature=${s}`],
  ['a data source of Go', s => `bob:${s}@tcp(db:3306)/shop`],
  ['a data source of libpq', s => `host=db user=bob password='${s} x' dbname=shop`],
  ['a connection string', s => `Server=db;User Id=sa;Password=${s};Encrypt=yes`],
  ['a connection string in braces', s => `Driver=x;UID=sa;PWD={${s};x}`],
  ['a service bus', s => `Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=${s}`],
  ['Oracle', s => `jdbc:oracle:thin:scott/${s}@//db:1521/shop`],
  ['a hook of Discord', s => `POST https://discord.com/api/webhooks/123456/${s}: 404`],
  ['a bot of Telegram', s => `https://api.telegram.org/bot123456789:${s}/sendMessage`],
  ['an image', s => `image "bob:${s}@example.com/app:1"`],
]

const prose: Shape[] = [
  ['a statement', s => `the password is ${s}`],
  ['a quoted value', s => `password "${s}" refused`],
  ['a value after its name', s => `cannot log in as bob with password ${s}`],
  ['SQL', s => `CREATE USER bob IDENTIFIED BY '${s}'`],
  ['SQL of Postgres', s => `ALTER ROLE bob WITH ENCRYPTED PASSWORD '${s}'`],
  ['a split value', s => `password:\n    ${s}\nfailed`],
]

const programs: Shape[] = [
  ['printf into docker', s => `printf '%s' ${s} | docker login --password-stdin -u bob`],
  ['a here string', s => `docker login --password-stdin <<< ${s}`],
  ['chpasswd', s => `echo root:${s} | chpasswd`],
  ['a here string of chpasswd', s => `chpasswd <<< "root:${s}"`],
  ['kinit', s => `echo ${s} | kinit bob@EXAMPLE.COM`],
  ['a format into kinit', s => `printf '%s\\n' '${s}' | kinit bob`],
  ['sudo', s => `echo ${s} | sudo -S ls`],
  ['vault login', s => `vault login ${s}`],
  ['a value of vault', s => `vault kv put secret/db x=${s}`],
  ['AUTH of redis-cli', s => `redis-cli AUTH ${s}`],
  ['AUTH with a user', s => `redis-cli AUTH bob ${s}`],
  ['AUTH in lower case', s => `redis-cli -h db auth ${s}`],
  ['CONFIG of Redis', s => `CONFIG SET requirepass ${s}`],
  ['sqlplus', s => `sqlplus scott/${s}@db`],
  ['sqlplus with a flag', s => `sqlplus -S scott/${s}@//db:1521/x`],
  ['usermod', s => `usermod -p ${s} bob`],
  ['useradd', s => `useradd -m -p '${s}' bob`],
  ['openssl passwd', s => `openssl passwd -6 ${s}`],
  ['openssl passwd with a salt', s => `openssl passwd -1 -salt ab ${s}`],
  ['a key of openssl', s => `openssl enc -aes-256-cbc -k ${s} -in a`],
  ['smbclient', s => `smbclient -U bob%${s} //h/s`],
  ['a share of Windows', s => `net use Z: \\\\h\\s ${s} /user:bob`],
  ['a user of Windows', s => `net user svc ${s} /add`],
  ['db2', s => `db2 connect to x user bob using ${s}`],
  ['ssh-keygen', s => `ssh-keygen -t rsa -N ${s} -f a`],
  ['cryptsetup', s => `echo -n ${s} | cryptsetup luksOpen /dev/x y -`],
  ['a user of RabbitMQ', s => `rabbitmqctl add_user bob ${s}`],
  ['a password of RabbitMQ', s => `rabbitmqctl change_password bob ${s}`],
  ['ipmitool', s => `ipmitool -U bob -P ${s} power`],
  ['a community of SNMP', s => `snmpwalk -v2c -c ${s} host`],
  ['two secrets of SNMP', s => `snmpget -A ${s} -X ${s} h`],
  ['a parameter of SSM', s => `aws ssm put-parameter --name a --value ${s} --type SecureString`],
  ['a secret of GitHub', s => `gh secret set A --body ${s}`],
  ['a token into gh', s => `echo ${s} | gh auth login --with-token`],
  ['a setting of npm', s => `npm config set //r/:_authToken ${s}`],
  ['an alias of MinIO', s => `mc alias set a https://h AKID1 ${s}`],
]

const names: Shape[] = [
  ['psk', s => `psk=${s}`],
  ['psk in YAML', s => `psk: ${s}`],
  ['a key of WLAN', s => `wpa_psk=${s}`],
  ['a pin', s => `pin: ${s}`],
  ['a flag with a pin', s => `--pin ${s}`],
  ['a pin behind a sign', s => `--pin=${s}`],
  ['an otp', s => `otp=${s}`],
  ['a flag with an otp', s => `--otp ${s}`],
  ['a second key', s => `AccessKey2=${s}`],
  ['a numbered key', s => `primaryKey1: ${s}`],
  ['a root password of LDAP', s => `olcRootPW: ${s}`],
  ['rootpw', s => `rootpw ${s}`],
  ['requirepass', s => `requirepass ${s}`],
  ['masterauth', s => `masterauth ${s}`],
  ['bindpw', s => `bindpw ${s}`],
  ['bindpw with a sign', s => `bindpw=${s}`],
]

const lookAlikes: Shape[] = [
  ['quotes of XML', s => `{&quot;password&quot;:&quot;${s}&quot;}`],
  ['numbered quotes of XML', s => `{&#34;password&#34;:&#34;${s}&#34;}`],
  ['quotes of JSON', s => `{\\u0022password\\u0022:\\u0022${s}\\u0022}`],
  ['quotes in hexadecimal', s => `{\\x22password\\x22:\\x22${s}\\x22}`],
  ['a sign of XML', s => `password&#61;${s}`],
  ['a sign of XML in hexadecimal', s => `password&#x3D;${s}`],
  ['a sign of JSON', s => `password\\u003d${s}`],
  ['a colon of JSON', s => `password\\u003a ${s}`],
  ['a Cyrillic letter', s => `p\u0430ssword=${s}`],
  ['another Cyrillic letter', s => `passw\u043erd: ${s}`],
  ['three Cyrillic letters', s => `t\u043e\u043a\u0435n=${s}`],
  ['a Greek letter', s => `t\u03bfken=${s}`],
  [
    'mathematical letters',
    s => `\u{1d429}\u{1d41a}\u{1d42c}\u{1d42c}\u{1d430}\u{1d428}\u{1d42b}\u{1d41d}=${s}`,
  ],
  ['a letter with an accent', s => `pa\u0301ssword=${s}`],
]

const tables: Shape[] = [
  ['a list below a name', s => `passwords:\n  - ${s}\n  - ${s}x\nother: 1`],
  ['a list without an indent', s => `tokens:\n- ${s}\n- ${s}b`],
  ['a quoted item', s => `passwords:\n  - "${s}"`],
  ['a map below a name', s => `passwords:\n  alice: ${s}\n  bob: ${s}1`],
  ['a map of credentials', s => `credentials:\n  value: ${s}`],
  ['a table', s => `| user | password |\n| bob | ${s} |`],
  ['a table of Markdown', s => `| user | password |\n|---|---|\n| bob | ${s} |`],
  ['a table with commas', s => `user,password\nbob,${s}`],
  ['a table with spaces', s => `USER  PASSWORD\nbob   ${s}`],
  ['a row of a table', s => `| password | ${s} |`],
]

const statements: Shape[] = [
  ['a field below a name', s => `secret:\n  db: ${s}`],
  ['a tilde', s => `password ~ ${s}`],
  ['a value before its name', s => `used ${s} as password`],
  ['a value before an article', s => `with ${s} as the password`],
]

/** Notations of a file, each a line: `§` is the secret, `⏎` a line end, `\\u{…}` a character. */
const writtenShapes = (text: string): Shape[] =>
  text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('# '))
    .map(line => {
      const notation = line
        .replaceAll('⏎', '\n')
        .replace(/\\u\{([0-9a-f]+)\}/g, (_, code) =>
          String.fromCodePoint(Number.parseInt(code, 16)),
        )
      return [line, secret => notation.replaceAll('§', secret)]
    })
const [ofAnySecret = '', ofDigits = '', ofRandom = ''] = readFileSync(
  'test/fixtures/notations-of-secrets.txt',
  'utf8',
).split('\n\n')
/** Further shapes around a secret of any characters. */
export const furtherShapes: readonly Shape[] = writtenShapes(ofAnySecret)
/** Shapes around a secret with a digit. */
export const doubtfulShapes: readonly Shape[] = writtenShapes(ofDigits)
/** Shapes around a secret of small letters, capitals and digits. */
export const randomShapes: readonly Shape[] = writtenShapes(ofRandom)

/** Shapes around a secret of any characters. */
export const secretShapes: readonly Shape[] = [
  ...shell,
  ...lists,
  ...fields,
  ...files,
  ...headers,
  ...addresses,
  ...prose,
  ...programs,
  ...names,
  ...lookAlikes,
  ...tables,
  ...statements,
]

const letters = 'q3Zr8LmX1vB7nT5kW9yD2hJ6pF4sG0cA'
const hex = '0123456789abcdef'.repeat(4)
const digits = '1234567890'
/** Put together here, so that no scanner takes them for real ones. */
const token = (prefix: string, rest: string) => `${prefix}${rest}`

/** Tokens that a vendor's prefix or their own form gives away. */
export const secretTokens: readonly string[] = [
  ...['ghp_', 'github_pat_', 'npm_', 'glpat-', 'dckr_pat_', 'sk_live_', 'rk_test_'],
  ...['sk-proj-', 'sk-ant-', 'hvs.', 'pypi-', 'whsec_', 'shpat_', 'hf_', 'NRAK-'],
  ...['r8_', 'sbp_', 'nfp_', 'figd_', 'glsa_', 'sntrys_', 'lin_api_', 'ntn_', 'PMAK-'],
  ...[
    'pplx-',
    'sk-or-v1-',
    'rzp_live_',
    'napi_',
    'pat-na1-',
    'pscale_tkn_',
    'CCIPAT_',
    'bkua_',
    'tskey-auth-',
    'ATATT3',
    'ATBB',
    'sq0csp-',
    'dt0c01.',
  ],
  ...['dop_v1_', 'doo_v1_', 'pul-', 'sqp_', 'HRKU-', 'fo1_', 'AKCp', 'dp.pt.', 'EAAC', 'lsv2_pt_'],
]
  .map(prefix => token(prefix, letters))
  .concat([
    token('rubygems_', hex.slice(0, 48)),
    token('SK', hex.slice(0, 32)),
    token('key-', hex.slice(0, 32)),
    token(hex.slice(0, 32), '-us12'),
    token('AKIA', 'IOSFODNN7EXAMPLE'),
    token('LTAI', letters.slice(0, 20)),
    token('AKID', letters),
    token('AIza', `Sy${letters}`),
    token('xoxb-', `${digits}-${letters}`),
    token('SG.', `${letters.slice(0, 22)}.${letters}`),
    token(`${digits}:`, `AA${letters}A`),
    token('$6$', `saltsalt$${letters}`),
    token('$2y$10$', letters),
    token('$argon2id$v=19$m=65536,t=3,p=4$', letters),
    token('k8s-aws-v1.', base64('https://sts.amazonaws.com/?a')),
    token('abcdef.', '0123456789abcdef'),
    token('-----BEGIN RSA PRIVATE KEY-----', `\\n${letters}\\n-----END RSA PRIVATE KEY-----`),
    token('-----BEGIN OPENSSH PRIVATE KEY-----', `\n${letters}`),
    token('b3BlbnNzaC1rZXktdjE', 'AAAAABG5vbmUAAAAEbm9uZQ'),
    token('AGE-SECRET-KEY-1', 'QPZRY9X8GF'.repeat(5)),
    token('https://discord.com/api/webhooks/123456/', letters),
    token('https://hooks.slack.com/services/T0/B0/', letters),
    token('https://hooks.zapier.com/hooks/catch/1/', letters),
  ])
