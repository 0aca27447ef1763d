/** Names of fields, flags, variables and headers whose values are secret. */

const secretWord =
  /token|pas{1,2}w|stringdata|pass[-_.]?(?:phrase|code|key|word|ord)|secret|credential|authorization|authtok|dockerc(?:onfigjson|fg)|cookie|private[-_]?key|mnemonic|senha|contrasena|kennwort|wachtwoord|mot[-_]?de[-_]?passe/i

const secretEnd =
  /(?:key|keyid|key-data|signature|connectionstring|activation[-_]?code|client[-_]?assertion|code[-_]?verifier|viewstate|pepper|samlresponse|authident|art-api|sess(?:ion)?[-_]?id)$|(?<!by|com|tres|over|under|sur)pass$|(?<!old)pwd$|(?:^(?:-[DP])?|[-_./])(?:auths?|pw|psk|pin|otp|sig|sas|jwt|pat|dsn|sid|creds?|bearer|csrf|hmac|session|ticket|assertion|ntlm|auth[-_]?code|clave|has[lł]o|heslo|salasana|losenord|jelszo|parola|sifre)$|psw(?:r?d)?$|(?:pw|ntlm)hash$|(?:bind|root)[-_]?pw$|(?:access|account|api|shared|primary|secondary)[-_]?key\d$/i
/** Endings of secret names such as `dbPass` and `registryAuth`. */
const camelCaseEnd = /[a-z](?:Auth|Pass|Pwd|Sig|Creds|Pw)$|[A-Z]PW$/
/** A path to a secret or a setting for its use is not secret: `--token-auth-file=…` stays. */
const setting =
  /(?:file|path|dir|ttl|mode|refresh|rotate|stdin|webhook|provider|provider-config|manager|(?:cache|image|label|annotation|object)key|secrets?[-_]?(?:name|namespace|ref)|imagepullsecrets?)$/i
/** A public hash such as `--discovery-token-ca-cert-hash`. Password hashes do not match, because they can be cracked. */
const publicHash = /^(?!.*pass).*-hash$/i
/** A static pod URL and its header can contain a token. Source: cmd/kubelet/app/options/options.go AddKubeletConfigFlags */
const staticPodSource = /(?:manifest[-_]?url|staticpodurl)(?:[-_]?header)?$/i
/** Names of errors, such as ExpiredToken and SecretSyncedError. */
const errorName =
  /^(?:Expired|FailedTo|Invalid|Missing|No|Unknown|Unrecognized)[A-Z]|(?:Error|Exception|Failed|Failure|Malformed|Mismatch|NotFound)$/
const maxNameLength = 256

export const isStaticPodSource = (name: string) => staticPodSource.test(name.slice(-maxNameLength))

export function isSecretKey(name: string) {
  const end = name.slice(-maxNameLength)
  const isSecret =
    secretWord.test(end) || secretEnd.test(end) || camelCaseEnd.test(end) || isStaticPodSource(end)
  return isSecret && !setting.test(end) && !publicHash.test(end) && !errorName.test(end)
}
