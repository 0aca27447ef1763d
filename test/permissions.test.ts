import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { stsPermissions } from '#clients/credentials.ts'
import { eksPermissions } from '#clients/eks.ts'
import { s3Permissions } from '#clients/s3.ts'
import { sesPermissions } from '#clients/sesv2.ts'
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

it('the function’s role grants what the code calls, and no more', () => {
  const service = parseDocument(readFileSync('serverless.yml', 'utf8'), { logLevel: 'silent' }).toJS()
  const statements: { Effect: string; Action: string[]; Resource: unknown }[] = service.provider.iam.role.statements
  const granted = statements.flatMap(({ Action }) => Action)
  expect(statements.map(({ Effect }) => Effect)).toEqual(statements.map(() => 'Allow'))
  expect(granted.toSorted()).toEqual([...eksPermissions, ...stsPermissions, ...s3Permissions, ...sesPermissions].toSorted())
  const onEverything = statements.filter(({ Resource }) => Resource === '*').flatMap(({ Action }) => Action)
  // Source: service authorization reference, Amazon EKS: ListClusters has no resource type.
  expect(onEverything).toEqual(['eks:ListClusters'])
})
