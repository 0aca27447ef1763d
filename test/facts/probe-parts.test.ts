import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { probePart } from '#facts/probe-parts.ts'

const folder = 'src/remediate/scripts'

/** The names that the scripts give to unread parts, with the shell's variables in them. */
function namesOfScripts(): string[] {
  const scripts = readdirSync(folder).filter(name => name.endsWith('.sh'))
  const calls = scripts.flatMap(name => [
    ...readFileSync(`${folder}/${name}`, 'utf8').matchAll(
      /\bunread (?:"((?:[^"\\]|\\.)+)"|'([^']+)'|([a-zA-Z.]+)) ["']/g,
    ),
  ])
  const named = calls.map(([, double, single, plain]) => double ?? single ?? plain ?? '')
  return [...new Set(named)].sort()
}

describe('part of a node that a script names as unread', () => {
  it.each([
    ['kubelet file /etc/kubernetes/kubelet/config.json', 'kubelet-file'],
    ['kubelet file', 'kubelet'],
    ['kubelet files', 'kubelet'],
    ['host.kubelet', 'kubelet'],
    ['kubelet process', 'kubelet'],
    ['the kubelet process', 'kubelet'],
    ['kubelet command line', 'kubelet'],
    ['kubelet environment', 'kubelet-environment'],
    ['kubelet environment /etc/eks/kubelet/environment', 'kubelet-environment'],
    ["the kubelet's start", 'kubelet-start'],
    ['the start of the process', 'kubelet-start'],
    ['drop-ins in /etc/kubernetes/kubelet/config.json.d', 'drop-ins'],
    ['logrotate file /etc/logrotate.d/kubelet', 'logrotate-file'],
    ['logrotate', 'logrotate'],
    ['the running configuration', 'other'],
  ])('%s', (what, is) => {
    expect(probePart(what).is).toBe(is)
  })

  it('has one kind for each name in the scripts', () => {
    expect(
      Object.fromEntries(namesOfScripts().map(name => [name, probePart(name).is])),
    ).toMatchSnapshot()
  })
})
