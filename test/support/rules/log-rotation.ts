/** Files of logrotate in an example. */

export const app = '/etc/logrotate.d/app'

export const main = '/etc/logrotate.conf'

export const logs = '/var/log/app/*.log'

export type Directives = Record<string, unknown>

export const entry = (directives: Directives, path = app, sha256?: string) => ({
  path,
  directives,
  ...(sha256 && { sha256 }),
})

export const block = (directives: Directives, ...patterns: string[]) => ({
  patterns: patterns.length > 0 ? patterns : [logs],
  ...directives,
})

export const globals = (directives: Directives) => entry({ patterns: [], ...directives }, main)
