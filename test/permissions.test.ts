import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { eksPermissions } from '#clients/eks.ts'
import { listNodesPermission } from '#collect/collect.ts'
import { collectors } from '#collect/collectors/index.ts'

const readme = readFileSync('README.md', 'utf8')

it('the README names every right that the code uses', () => {
  const kubernetes = [listNodesPermission, ...collectors.flatMap(({ permissions }) => permissions.kubernetes)]
  expect([...new Set(kubernetes)].toSorted()).toEqual(['get nodes/proxy', 'list nodes', 'list pods'])
  for (const right of [...kubernetes, ...eksPermissions]) expect(readme).toContain(`\`${right}\``)
})

it('the README’s ClusterRole grants those rights and no more', () => {
  const role = /kind: ClusterRole\n[\s\S]*?```/.exec(readme)?.[0] ?? ''
  const granted = [...role.matchAll(/resources: \[([^\]]+)\],\s+verbs: \[([^\]]+)\]/g)].flatMap(([, resources = '', verbs = '']) =>
    resources.split(', ').flatMap(resource => verbs.split(', ').map(verb => `${verb} ${resource}`)),
  )
  const used = [listNodesPermission, ...collectors.flatMap(({ permissions }) => permissions.kubernetes)]
  expect(granted.toSorted()).toEqual([...new Set(used)].toSorted())
})
