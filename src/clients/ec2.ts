/** The EC2 API: what launch templates tell the kubelet. Their user data is cut here to just that. */
import { DescribeLaunchTemplateVersionsCommand, EC2Client, type LaunchTemplateVersion } from '@aws-sdk/client-ec2'
import { launchTemplateVersionsMax } from '#facts/aws/limits.ts'
import type { KubeletSettings } from '#model/kubelet-settings.ts'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import type { RequestFailure } from './failure.ts'
import { readUserData } from './user-data.ts'

/** What this file calls, for the function's role. */
export const ec2Permissions = ['ec2:DescribeLaunchTemplateVersions']

const maxAttempts = 5

/** The versions of one template that somebody names: numbers, `$Default`, `$Latest`. */
export interface TemplateVersions {
  by: { id: string } | { name: string }
  versions: string[]
}

/** One for each source of settings in the user data, or a single one. */
export interface LaunchTemplate {
  launchTemplateId: string
  launchTemplateName: string
  versionNumber: number
  /** Null: the template tells the kubelet nothing. Absent: what it tells is not known. */
  kubelet?: KubeletSettings | null
}

export interface LaunchTemplates {
  templates: LaunchTemplate[]
  /** User data that could not be read, and why. */
  unread: string[]
}

export class Ec2Api {
  private readonly region: string
  private readonly client: EC2Client

  constructor(region: string, credentials: CredentialSource) {
    this.region = region
    this.client = new EC2Client({ region, credentials, maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : maxAttempts })
  }

  /** @throws RequestFailure with a message for people, or the signal's reason */
  async launchTemplates({ by, versions }: TemplateVersions, signal: AbortSignal): Promise<LaunchTemplates> {
    const templates: LaunchTemplate[] = []
    const unread: string[] = []
    // A version may be named twice, by its number and as $Latest.
    const seen = new Set<number | undefined>()
    for (let start = 0; start < versions.length; start += launchTemplateVersionsMax) {
      const Versions = versions.slice(start, start + launchTemplateVersionsMax)
      for await (const version of this.describe(by, Versions, signal)) {
        if (seen.size === seen.add(version.VersionNumber).size) continue
        const read = cut(version)
        templates.push(...read.templates)
        unread.push(...read.unread)
      }
    }
    return { templates, unread }
  }

  close(): void {
    this.client.destroy()
  }

  private async *describe(by: TemplateVersions['by'], Versions: string[], signal: AbortSignal): AsyncGenerator<LaunchTemplateVersion> {
    const which = 'id' in by ? { LaunchTemplateId: by.id } : { LaunchTemplateName: by.name }
    let NextToken: string | undefined
    do {
      try {
        const command = new DescribeLaunchTemplateVersionsCommand({ ...which, Versions, NextToken })
        const page = await this.client.send(command, { abortSignal: signal })
        NextToken = page.NextToken || undefined
        yield* page.LaunchTemplateVersions ?? []
      } catch (error) {
        signal.throwIfAborted()
        throw ec2Failure(error, `DescribeLaunchTemplateVersions ${'id' in by ? by.id : by.name} (${Versions.join(', ')})`, this.region)
      }
    } while (NextToken !== undefined)
  }
}

function cut({ LaunchTemplateId, LaunchTemplateName, VersionNumber, LaunchTemplateData }: LaunchTemplateVersion): LaunchTemplates {
  const template = {
    launchTemplateId: LaunchTemplateId ?? '',
    launchTemplateName: LaunchTemplateName ?? '',
    versionNumber: VersionNumber ?? 0,
  }
  const { settings, unread } = readUserData(LaunchTemplateData?.UserData ?? '')
  const named = unread.map(
    why => `the user data of ${template.launchTemplateName} version ${template.versionNumber} is not fully known: ${why}`,
  )
  if (settings.length > 0) return { templates: settings.map(kubelet => ({ ...template, kubelet })), unread: named }
  return { templates: [unread.length > 0 ? template : { ...template, kubelet: null }], unread: named }
}

function ec2Failure(error: unknown, what: string, region: string): RequestFailure {
  const { name, text } = awsError(error)
  if (/^InvalidLaunchTemplate/.test(name)) return requestFailure(error, `EC2 ${what} in ${region}: there is no such thing (${text})`)
  return awsFailure(error, { service: 'EC2', endpointVariable: 'AWS_ENDPOINT_URL_EC2', what, region, grant: `ec2:${what.split(' ')[0]}` })
}
