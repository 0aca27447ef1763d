import { describe, expect, it } from 'vitest'
import { matchesShellGlob, placeOf } from '#judge/logs/log-paths.ts'

describe('a pattern of logrotate', () => {
  it.each([
    ['*.log', 'app.log', true],
    ['*.log', '.log', false],
    ['.*', '.log', true],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'aXbY', false],
    ['?.log', '0.log', true],
    ['?.log', '10.log', false],
    ['[0-9].log', '7.log', true],
    ['[!0-9].log', '7.log', false],
    ['[^a]pp', 'bpp', true],
    ['[]x]', ']', true],
    ['[a-]', '-', true],
    ['[a-', '[a-', true],
    ['\\*.log', '*.log', true],
    ['\\*.log', 'a.log', false],
    ['', '', true],
    ['*', '', true],
    ['?', '', false],
    ['?', '😀', true],
  ])('%j meets %j: %s', (pattern, name, isMet) => {
    expect(matchesShellGlob(pattern, name)).toBe(isMet)
  })

  it('takes no longer for a hundred stars than for one', () => {
    expect(matchesShellGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(4000))).toBe(false)
  })
})

describe('the place of a pattern', () => {
  it.each([
    ['/var/log/pods/*/*/?.log', 'pods'],
    ['/var/log/[p]ods/*/*/[0-9].log', 'pods'],
    ['/var/log/pod?/*/*/*.log', 'pods'],
    ['/var/log/[!p]ods/*/*/*.log', 'elsewhere'],
    // containerd has a folder of its own there.
    ['/var/log/container?/*.log', 'elsewhere'],
    ['/var/log/pods/*.log', 'nothing'],
  ])('%s: %s', (pattern, place) => {
    expect(placeOf(pattern)).toBe(place)
  })

  it('is that of the kubelet’s own folder, whatever characters it has', () => {
    expect(placeOf('/data/l?gs/*/*/*.log', '/data/l[gs')).toBe('pods')
    expect(placeOf('/data/l?gs/*/*/*.log', '/data/logs')).toBe('pods')
    expect(placeOf('/var/log/pods/*/*/*.log', '/data/logs')).toBe('elsewhere')
  })
})
