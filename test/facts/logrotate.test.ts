import { expect, it } from 'vitest'
import { isLogPattern, isLogrotateFile, isLogrotateValue } from '#facts/logrotate.ts'

it.each([
  ['rotate', '0', false],
  ['rotate', '00', false],
  ['rotate', '1', true],
  ['rotate', '-1', true],
  ['rotate', '10', true],
  ['create', '0644 root root', true],
  ['create', '0755 root root', false],
  ['postrotate', '', false],
  ['compress', '', true],
  ['compress', 'x', false],
])('a plan may write %s %s: %s', (name, value, isTaken) => {
  expect(isLogrotateValue(name, value)).toBe(isTaken)
})

it.each([
  ['/var/log/messages', true],
  ['/var/log/app/*.log', true],
  ['/opt/shop/logs/*.log', true],
  ['/var/log/*', false],
  ['/var/log/journal/system.log', false],
  ['/var/log/audit/audit.log', false],
  ['/var/log/wtmp', false],
  ['/var/log/lastlog', false],
  ['/opt/kafka/logs/0.log', false],
  ['/var/lib/etcd/member/wal/0.log', false],
  ['/data/logs/a.log', false],
  ['/srv/data/logs/a.log', false],
  ['/opt/influxdb/logs/wal.log', false],
  ['/var/log/mariadb/mariadb-bin.000001', false],
  ['/srv/database-api/logs/a.log', true],
  ['/srv/broker/logs/orders-0/00000000000000000000.log', false],
  ['/opt/bk/log/current/0.log', false],
  ['/srv/scylla/log/CommitLog-7-1.log', false],
  ['/srv/tsdb/log/wal/00000001', false],
  ['/srv/store/logs/db.sqlite', false],
  ['/srv/store/logs/app.db-wal', false],
  ['/srv/store/logs/MANIFEST-000001', false],
  ['/srv/store/logs/000005.log', false],
  ['/srv/store/logs/a.ldb', false],
  ['/srv/store/log/ledgers/a.log', false],
  ['/opt/ledger-api/logs/a.log', true],
  ['/opt/shop/logs/2*.log', false],
  ['/var/log/prometheus/wal', false],
  ['/opt/shop/logs/wal-e.log', true],
  ['/opt/shop/logs/index.log', true],
  ['/opt/shop/logs/api/access.log', true],
  ['/opt/shop/logs/catalina.out', true],
  ['/var/log/containers/*.log', true],
])('a plan may rotate %s: %s', (pattern, isTaken) => {
  expect(isLogPattern(pattern)).toBe(isTaken)
})

it.each([
  ['/etc/logrotate.d/app', true],
  ['/etc/logrotate.d/app.bak', false],
  ['/etc/logrotate.d/../cron.d/app', false],
  ['/etc/cron.d/app', false],
])('a plan may write the file %s: %s', (path, isTaken) => {
  expect(isLogrotateFile(path)).toBe(isTaken)
})
