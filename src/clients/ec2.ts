/** The EC2 API: kubelet settings in launch templates, and the volumes and instances of a cluster. */
import {
  DescribeInstancesCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeVolumesCommand,
  EC2Client,
  type Instance,
  type LaunchTemplateVersion,
  type Volume,
} from '@aws-sdk/client-ec2'
import { ec2PageMax, type TagFilter } from '#facts/aws/cluster-resources.ts'
import { launchTemplateVersionsMax } from '#facts/aws/limits.ts'
import type { KubeletSettings } from '#model/kubelet-settings.ts'
import type { RawObject } from '#model/record.ts'
import { awsError, awsFailure, requestFailure } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'
import type { RequestFailure } from './failure.ts'
import { tellingSlowDowns } from './slow-downs.ts'
import { readUserData } from './user-data.ts'

/** The calls of discovery. Collectors name the others. */
export const ec2Permissions = ['ec2:DescribeLaunchTemplateVersions']

const maxAttempts = 5

/** The referenced versions of one template: numbers, `$Default`, `$Latest`. */
export interface TemplateVersions {
  by: { id: string } | { name: string }
  versions: string[]
}

/** One for each source of settings in the user data, or a single one. */
export interface LaunchTemplate {
  launchTemplateId: string
  launchTemplateName: string
  versionNumber: number
  /** EBS volumes that it gives a size. */
  volumes: { deviceName: string; sizeGiB: number }[]
  /** Null: the template has no kubelet settings. Absent: unknown. */
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
    const client = new EC2Client({
      region,
      credentials,
      maxAttempts: process.env.AWS_MAX_ATTEMPTS ? undefined : maxAttempts,
    })
    this.client = tellingSlowDowns('EC2', client)
  }

  /** @throws RequestFailure with a message for people, or the signal's reason */
  async launchTemplates(
    { by, versions }: TemplateVersions,
    signal: AbortSignal,
  ): Promise<LaunchTemplates> {
    const templates: LaunchTemplate[] = []
    const unread: string[] = []
    // A version may be named twice, by its number and as $Latest.
    const seen = new Set<number | undefined>()
    for (let start = 0; start < versions.length; start += launchTemplateVersionsMax) {
      const Versions = versions.slice(start, start + launchTemplateVersionsMax)
      for await (const version of this.describe(by, Versions, signal)) {
        if (seen.has(version.VersionNumber)) continue
        seen.add(version.VersionNumber)
        const read = cut(version)
        templates.push(...read.templates)
        unread.push(...read.unread)
      }
    }
    return { templates, unread }
  }

  /** Page by page, with EC2's own names, times as RFC 3339. @throws as launchTemplates */
  volumes(filters: readonly TagFilter[], signal: AbortSignal): AsyncGenerator<RawObject[]> {
    return this.pages('DescribeVolumes', signal, async NextToken => {
      const command = new DescribeVolumesCommand({
        Filters: asked(filters),
        MaxResults: ec2PageMax,
        NextToken,
      })
      const page = await this.client.send(command, { abortSignal: signal })
      return { items: (page.Volumes ?? []).map(volumeObject), next: page.NextToken }
    })
  }

  /** As `volumes`. @throws as launchTemplates */
  instances(filters: readonly TagFilter[], signal: AbortSignal): AsyncGenerator<RawObject[]> {
    return this.pages('DescribeInstances', signal, async NextToken => {
      const command = new DescribeInstancesCommand({
        Filters: asked(filters),
        MaxResults: ec2PageMax,
        NextToken,
      })
      const page = await this.client.send(command, { abortSignal: signal })
      const instances = (page.Reservations ?? []).flatMap(({ Instances }) => Instances ?? [])
      return { items: instances.map(instanceObject), next: page.NextToken }
    })
  }

  close(): void {
    this.client.destroy()
  }

  private async *pages(
    what: string,
    signal: AbortSignal,
    ask: (token: string | undefined) => Promise<{ items: RawObject[]; next: string | undefined }>,
  ): AsyncGenerator<RawObject[]> {
    let token: string | undefined
    do {
      try {
        const { items, next } = await ask(token)
        token = next || undefined
        yield items
      } catch (error) {
        signal.throwIfAborted()
        throw ec2Failure(error, what, this.region)
      }
    } while (token !== undefined)
  }

  private async *describe(
    by: TemplateVersions['by'],
    Versions: string[],
    signal: AbortSignal,
  ): AsyncGenerator<LaunchTemplateVersion> {
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
        throw ec2Failure(
          error,
          `DescribeLaunchTemplateVersions ${'id' in by ? by.id : by.name} (${Versions.join(', ')})`,
          this.region,
        )
      }
    } while (NextToken !== undefined)
  }
}

function cut({
  LaunchTemplateId,
  LaunchTemplateName,
  VersionNumber,
  LaunchTemplateData,
}: LaunchTemplateVersion): LaunchTemplates {
  const template = {
    launchTemplateId: LaunchTemplateId ?? '',
    launchTemplateName: LaunchTemplateName ?? '',
    versionNumber: VersionNumber ?? 0,
    volumes: (LaunchTemplateData?.BlockDeviceMappings ?? []).flatMap(({ DeviceName, Ebs }) =>
      DeviceName && Ebs?.VolumeSize ? [{ deviceName: DeviceName, sizeGiB: Ebs.VolumeSize }] : [],
    ),
  }
  const { settings, unread } = readUserData(LaunchTemplateData?.UserData ?? '')
  const named = unread.map(
    why =>
      `the user data of ${template.launchTemplateName} version ${template.versionNumber} is not fully known: ${why}`,
  )
  if (settings.length > 0)
    return { templates: settings.map(kubelet => ({ ...template, kubelet })), unread: named }
  return {
    templates: [unread.length > 0 ? template : { ...template, kubelet: null }],
    unread: named,
  }
}

const asked = (filters: readonly TagFilter[]) =>
  filters.map(({ name, values }) => ({ Name: name, Values: values }))

const volumeObject = ({
  VolumeId,
  Size,
  VolumeType,
  Iops,
  Throughput,
  State,
  CreateTime,
  AvailabilityZone,
}: Volume): RawObject => ({
  ...{ VolumeId, Size, VolumeType, Iops, Throughput, State, AvailabilityZone },
  CreateTime: CreateTime?.toISOString(),
})

const instanceObject = ({
  InstanceId,
  InstanceType,
  State,
  LaunchTime,
  PrivateDnsName,
}: Instance): RawObject => ({
  ...{ InstanceId, InstanceType, PrivateDnsName },
  State: { Name: State?.Name },
  LaunchTime: LaunchTime?.toISOString(),
})

function ec2Failure(error: unknown, what: string, region: string): RequestFailure {
  const { name, text } = awsError(error)
  if (/^InvalidLaunchTemplate/.test(name))
    return requestFailure(error, `EC2 ${what} in ${region}: there is no such thing (${text})`)
  return awsFailure(error, {
    service: 'EC2',
    endpointVariable: 'AWS_ENDPOINT_URL_EC2',
    what,
    region,
    grant: `ec2:${what.split(' ')[0]}`,
  })
}
