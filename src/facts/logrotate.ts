/**
 * What a file of logrotate may say that a plan writes. Left out on purpose: what runs a program as root (scripts, compresscmd), reads other files
 * (include, tabooext), sends logs away (mail) or acts as another user (su).
 *
 * Source  logrotate.conf(5); logrotate config.c readConfigFile
 */

const logrotateFolder = '/etc/logrotate.d/'

/** As the parameter of the document has it. */
const nameForm = /^[a-z0-9][a-z0-9_.-]{0,62}$/
// logrotate config.c defTabooExts
const passedOver =
  /(,v|~|\.(bak|cfsaved|disabled|dpkg-(bak|del|dist|new|old|tmp)|rpmnew|rpmorig|rpmsave|swp|ucf-(dist|new|old)))$|\.rhn-cfg-tmp-/

/** Copies that editors and package managers leave are not read; `.old` and `.orig` are. inspect.sh has the same list. */
export const isPassedOverByLogrotate = (name: string): boolean => passedOver.test(name)

export function isLogrotateFile(path: string): boolean {
  const name = path.slice(logrotateFolder.length)
  return path.startsWith(logrotateFolder) && nameForm.test(name) && !isPassedOverByLogrotate(name)
}

/**
 * The forms of values, and of patterns: extended regular expressions that JavaScript and every awk read alike (no classes
 * by backslash, no counts in braces). `sync-file.sh` checks by the same ones.
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

/** Directives of a block, and the form of the value after each. Empty: the directive ends the line. */
export const logrotateDirectives: Readonly<Record<string, string>> = {
  ...Object.fromEntries(flags.flatMap(flag => [flag, `no${flag}`]).map(flag => [flag, alone])),
  addextension: ending,
  // Mode, owner, group: root's or what the old file has. At most 0644: a log is never executable, and only its owner writes it.
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
  rotate: `-1|${count}`,
  size,
  start: count,
  weekly: '[0-7]?',
  yearly: alone,
}

const longestDirectiveValue = 80

/** Whether this directive may stand in a block with this value, whose words have one space between them. */
export const isLogrotateValue = (name: string, value: string): boolean =>
  value.length <= longestDirectiveValue &&
  new RegExp(`^(${logrotateDirectives[name]})$`).test(value)

/** No name begins with a dot: neither `..`, nor what a shell or a program reads as its configuration. */
const initial = '([A-Za-z0-9_*?@%+=:,-]|\\[|\\])'
const later = '([A-Za-z0-9_.*?@%+=:,-]|\\[|\\])'
const segment = `/${initial}${later}*`
/** No wildcard: a folder that an ordinary user makes, or a link in its place, could meet it. */
const folder = '/[A-Za-z0-9_@%+=:,-][A-Za-z0-9_.@%+=:,-]*'

/**
 * A pattern meets what will be moved and deleted. In the log folders, and one folder deeper, that is anything; elsewhere
 * what lies in a folder `log` or `logs`, or ends with `.log`. Nothing below /home: users own the folders there.
 */
export const logPatternForm = [
  `/var/(log|lib/docker/containers)(${folder})?${segment}`,
  `/(opt|srv|data|mnt|var/lib)(${folder})*(/logs?(${folder})*${segment}|${segment}[.]log)`,
].join('|')

const longestPattern = 250
const logPattern = new RegExp(`^(${logPatternForm})$`)

/** Whether a pattern can meet nothing but logs. */
export const isLogPattern = (pattern: string): boolean =>
  pattern.length <= longestPattern && logPattern.test(pattern)
