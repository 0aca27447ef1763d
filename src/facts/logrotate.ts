/**
 * What a file of logrotate may say that a plan writes. Left out on purpose: what runs a program as root (scripts, compresscmd), reads other files
 * (include, tabooext) or sends logs away (mail).
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

/** Whether a plan may write a file of logrotate there. */
export function isLogrotateFile(path: string): boolean {
  const name = path.slice(logrotateFolder.length)
  return path.startsWith(logrotateFolder) && nameForm.test(name) && !isPassedOverByLogrotate(name)
}

const alone = /^$/
const count = /^\d{1,6}$/
const size = /^\d{1,15}[kKMG]?$/

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

/** Directives, and the form of what stands after each. */
export const logrotateDirectives: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(flags.flatMap(flag => [flag, `no${flag}`]).map(flag => [flag, alone])),
  addextension: /^[\w.-]{1,30}$/,
  // Mode, owner, group.
  create: /^(0?[0-7]{3,4}( [\w-]{1,32}){0,2})?$/,
  daily: alone,
  dateformat: /^[\w.%-]{1,60}$/,
  datehourago: alone,
  dateyesterday: alone,
  extension: /^[\w.-]{1,30}$/,
  hourly: /^\d{0,4}$/,
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
  rotate: /^(-1|\d{1,6})$/,
  size,
  start: count,
  su: /^[\w-]{1,32} [\w-]{1,32}$/,
  weekly: /^[0-7]?$/,
  yearly: alone,
}

/** What a pattern meets is moved and deleted. */
const logFolders = ['/var/log/', '/var/lib/docker/containers/']
const otherFolders = ['/opt/', '/srv/', '/data/', '/mnt/', '/home/', '/var/lib/']

/** Whether a pattern can meet nothing but what somebody keeps as logs: there everything may, elsewhere what its last part calls so. */
export function isLogPattern(pattern: string): boolean {
  const isBelow = (folder: string) => pattern.startsWith(folder) && pattern.length > folder.length
  const isPlain =
    /^\/[\w./*?@%+=:,[\]-]{1,250}$/.test(pattern) && !pattern.split('/').includes('..')
  return (
    isPlain &&
    (logFolders.some(isBelow) ||
      (otherFolders.some(isBelow) && pattern.slice(pattern.lastIndexOf('/')).includes('log')))
  )
}
