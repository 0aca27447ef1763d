/** All directives that logrotate knows. A file with any other word is not a logrotate file. Source: logrotate config.c readConfigFile */

const flags =
  `allowhardlink compress copy copytruncate create createolddir dateext datehourago dateyesterday delaycompress ifempty ignoreduplicates
  mail missingok olddir renamecopy sharedscripts shred`.split(/\s+/)

/** Directives that a script follows, up to `endscript`. */
const scripts = ['firstaction', 'lastaction', 'postrotate', 'preremove', 'prerotate']

/** Directives that a number, a size or a day follows, if anything. */
const amounts =
  `daily hourly maxage maxsize minage minsize minutes monthly rotate shredcycles size start weekly yearly`.split(
    ' ',
  )

const words =
  `addextension compresscmd compressext compressoptions dateformat extension include mailfirst maillast notifempty su tabooext taboopat
  uncompresscmd`.split(/\s+/)

const known = new Set([
  ...flags,
  ...flags.map(flag => `no${flag}`),
  ...scripts,
  ...amounts,
  ...words,
])
const ofScripts = new Set(scripts)
const ofAmounts = new Set(amounts)

/** `script`: the lines after the directive can contain any text. Null: logrotate has no such directive. */
export function directiveKind(name: string): 'script' | 'amount' | 'words' | null {
  if (!known.has(name)) return null
  if (ofScripts.has(name)) return 'script'
  return ofAmounts.has(name) ? 'amount' : 'words'
}
