/**
 * What a plan may write into a logrotate file. Left out on purpose: directives that run a program as root (scripts, compresscmd), read other files
 * (include, tabooext), send logs away (mail) or act as another user (su).
 *
 * Source  logrotate.conf(5); logrotate config.c readConfigFile
 */

const logrotateFolder = '/etc/logrotate.d/'

/** The same form as in the SSM document's parameter. */
const nameForm = /^[a-z0-9][a-z0-9_.-]{0,62}$/
// Source: logrotate config.c defTabooExts
const passedOver =
  /(,v|~|\.(bak|cfsaved|disabled|dpkg-(bak|del|dist|new|old|tmp)|rpmnew|rpmorig|rpmsave|swp|ucf-(dist|new|old)))$|\.rhn-cfg-tmp-/

/** Whether logrotate ignores the file as a copy of an editor or package manager. It reads `.old` and `.orig`. inspect.sh has the same list. */
export const isPassedOverByLogrotate = (name: string): boolean => passedOver.test(name)

export function isLogrotateFile(path: string): boolean {
  const name = path.slice(logrotateFolder.length)
  return path.startsWith(logrotateFolder) && nameForm.test(name) && !isPassedOverByLogrotate(name)
}

/**
 * Forms of values and patterns: extended regular expressions that JavaScript and every awk read alike (no classes
 * by backslash, no counts in braces). `sync-file.sh` checks with the same expressions.
 */
const digits = (most: number) => `[0-9]${'[0-9]?'.repeat(most - 1)}`
const alone = ''
const count = digits(6)
const size = `${digits(15)}[kKMG]?`
const ending = '[A-Za-z0-9_.-]+'

const flags = [
  'allowhardlink',
  'compress',
  'copy',
  'copytruncate',
  'dateext',
  'delaycompress',
  'missingok',
  'renamecopy',
  'sharedscripts',
]

/** Directives of a block, and the form of each value. Empty: the directive has no value. */
export const logrotateDirectives: Readonly<Record<string, string>> = {
  ...Object.fromEntries(flags.flatMap(flag => [flag, `no${flag}`]).map(flag => [flag, alone])),
  addextension: ending,
  // Mode, owner, group: root's, or those of the old file. At most 0644: a log is never executable, and only its owner writes it.
  create: '(0?[0246][04][04]( root (root|adm))?)?',
  daily: alone,
  dateformat: '[A-Za-z0-9_.%-]+',
  datehourago: alone,
  dateyesterday: alone,
  extension: ending,
  hourly: `(${digits(4)})?`,
  ifempty: alone,
  maxage: count,
  maxsize: size,
  minage: count,
  minsize: size,
  monthly: alone,
  nocreate: alone,
  nomail: alone,
  noolddir: alone,
  notifempty: alone,
  // Not 0: the old file would be deleted at once.
  rotate: `-1|[1-9]${'[0-9]?'.repeat(5)}`,
  size,
  start: count,
  weekly: '[0-7]?',
  yearly: alone,
}

const longestDirectiveValue = 80

/** Whether a block may contain this directive with this value. The value's words have one space between them. */
export const isLogrotateValue = (name: string, value: string): boolean =>
  value.length <= longestDirectiveValue &&
  new RegExp(`^(${logrotateDirectives[name]})$`).test(value)

/** A name must not begin with a dot, as `..` and the settings files of shells and programs do. */
const initial = '([A-Za-z0-9_*?@%+=:,-]|\\[|\\])'
const later = '([A-Za-z0-9_.*?@%+=:,-]|\\[|\\])'
const segment = `/${initial}${later}*`
/** No wildcard, because it could match a folder, or a link to one, that an ordinary user makes. */
const folder = '/[A-Za-z0-9_@%+=:,-][A-Za-z0-9_.@%+=:,-]*'

/**
 * A pattern selects files that are moved and deleted. It may select a file by its whole name, or files ending with `.log`: in the log folders and one
 * folder deeper, and in a folder `log` or `logs` of a program. Not below /var/lib, /data and /mnt: data stores keep data in `*.log` and in `logs`.
 */
const literal = '/[A-Za-z0-9_@%+=:,-][A-Za-z0-9_.@%+=:,-]*'
const logs = `(${literal}|${segment}[.]log)`
export const logPatternForm = [
  `/var/log(${folder})?${logs}`,
  `/var/lib/docker/containers(${folder})?${segment}[.]log`,
  `/(opt|srv)(${folder})*/logs?(${folder})?${logs}`,
].join('|')

/** Records that are no logs for logrotate, in the same places: journals, audits, who logged in, data stores. In lower case. */
export const noLogForm =
  '^/var/log/(account|journal|private|sa)(/|$)|/[^/]*(audit|pacct|wtmp|btmp|utmp|lastlog|faillog|tallylog|etcd|kafka|mysql|mongo|postgres|zookeeper|cassandra|redis|rocksdb|pulsar|cockroach|mariadb|influx|elastic|nats|minio|tikv|couch|neo4j|hadoop|oracle|pgsql|commitlog|manifest-)|/(data|wal|index|current|segments?|ledgers?)/|/wal$|[.](db|mdb|sqlite[0-9]?|sst|ldb|aof|rdb|ibd|idx|index|timeindex)(-wal|-shm|-journal)?$|-bin[.]|/[0-9_-][0-9_.*?-]*([.]log)?$'

const longestPattern = 250
const logPattern = new RegExp(`^(${logPatternForm})$`)
const noLog = new RegExp(noLogForm)

/** Whether a pattern can select nothing but logs. */
export const isLogPattern = (pattern: string): boolean =>
  pattern.length <= longestPattern && logPattern.test(pattern) && !noLog.test(pattern.toLowerCase())
