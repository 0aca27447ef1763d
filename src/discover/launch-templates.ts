/** Reads the kubelet settings in the launch templates of a cluster's nodegroups. If a nodegroup has none, EKS makes one with its own user data. */

import { TextBudget } from '#base/foreign-text.ts'
import { textLimits } from '#base/limits.ts'
import { isRawObject, type RawObject } from '#base/raw-object.ts'
import type { CredentialSource } from '#clients/aws/credentials.ts'
import { Ec2Api, type LaunchTemplate, type TemplateVersions } from '#clients/aws/ec2.ts'
import { RequestFailure, readErrorOf } from '#clients/failure.ts'
import type { ReadError } from '#model/input/record.ts'

interface TemplatePlace {
  region: string
  credentials: CredentialSource
}

/** Adds unread launch templates to `errors`. Null: none could be read. */
export async function launchTemplatesOf(
  nodegroups: RawObject[],
  { region, credentials }: TemplatePlace,
  errors: ReadError[],
  signal: AbortSignal,
): Promise<RawObject[] | null> {
  const wanted = namedTemplates(nodegroups)
  if (wanted.length === 0) return []
  const ec2 = new Ec2Api(region, credentials)
  const found: LaunchTemplate[] = []
  const budget = new TextBudget(textLimits.clusterUserData)
  try {
    for (const [index, template] of wanted.entries()) {
      try {
        const { templates, unread } = await ec2.launchTemplates(template, signal, budget)
        found.push(...templates)
        errors.push(...unread.map(message => ({ what: 'launchTemplates' as const, message })))
      } catch (error) {
        const status = error instanceof RequestFailure ? error.status : null
        // One deleted version fails the whole request: the versions are then requested one by one.
        if (status === 400 && template.versions.length > 1) {
          wanted.push(...template.versions.map(version => ({ ...template, versions: [version] })))
          continue
        }
        const readError = readErrorOf('launchTemplates', error)
        const left = wanted.length - index - 1
        // A missing right or an expired deadline concerns every template, so it is reported once.
        const isForAll = status !== 400
        const more = isForAll && left > 0 ? ` (and ${left} more)` : ''
        errors.push({ ...readError, message: `${readError.message}${more}` })
        if (isForAll) break
      }
    }
  } finally {
    ec2.close()
  }
  return found.length > 0 ? found.map(template => ({ ...template })) : null
}

/** Returns each template once, with all the versions that nodegroups name. Sources: EKS API reference, LaunchTemplateSpecification. */
function namedTemplates(nodegroups: RawObject[]): TemplateVersions[] {
  const found = new Map<string, { by: TemplateVersions['by']; versions: Set<string> }>()
  for (const { launchTemplate } of nodegroups) {
    if (!isRawObject(launchTemplate)) continue
    const { id, name, version } = launchTemplate
    const byName = typeof name === 'string' ? { name } : null
    const by = typeof id === 'string' ? { id } : byName
    if (by === null) continue
    const key = JSON.stringify(by)
    const versions = found.get(key)?.versions ?? new Set()
    // A nodegroup without a version uses the template's default version. Source: EKS API reference.
    versions.add(typeof version === 'string' && version !== '' ? version : '$Default')
    found.set(key, { by, versions })
  }
  return [...found.values()].map(({ by, versions }) => ({ by, versions: [...versions] }))
}
