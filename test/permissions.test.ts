import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ec2Permissions } from '#clients/ec2.ts'
import { eksPermissions } from '#clients/eks.ts'
import { listNodesPermission } from '#collect/collect.ts'
import { clusterCollectors } from '#collect/collectors/index.ts'
import { collectorsOf } from '#collect/modes.ts'

const readme = readFileSync('README.md', 'utf8')
const kubernetes = [
  listNodesPermission,
  ...[...Object.values(collectorsOf).flat(), ...clusterCollectors].flatMap(({ permissions }) => permissions.kubernetes),
]

it('the README names every right that the code uses', () => {
  expect([...new Set(kubernetes)].toSorted()).toEqual([
    'get nodes/proxy',
    'list ec2nodeclasses.karpenter.k8s.aws',
    'list events',
    'list nodeclasses.eks.amazonaws.com',
    'list nodepools.karpenter.sh',
    'list nodes',
    'list pods',
  ])
  for (const right of [...kubernetes, ...eksPermissions, ...ec2Permissions]) expect(readme).toContain(`\`${right}\``)
})

it('the README’s ClusterRole grants those rights and no more', () => {
  const role = /kind: ClusterRole\n[\s\S]*?```/.exec(readme)?.[0] ?? ''
  const rules = role.matchAll(/apiGroups: \["?([^"\]]*)"?\],\s+resources: \[([^\]]+)\],\s+verbs: \[([^\]]+)\]/g)
  const granted = [...rules].flatMap(([, group, resources = '', verbs = '']) =>
    resources.split(', ').flatMap(resource => verbs.split(', ').map(verb => `${verb} ${resource}${group && `.${group}`}`)),
  )
  expect(granted.toSorted()).toEqual([...new Set(kubernetes)].toSorted())
})
