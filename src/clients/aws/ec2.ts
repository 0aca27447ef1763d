/** The EC2 API: kubelet settings in launch templates, and the volumes and instances of a cluster. */
import {
  EC2Client,
  type LaunchTemplateVersion,
  paginateDescribeInstances,
  paginateDescribeLaunchTemplateVersions,
  paginateDescribeVolumes,
} from '@aws-sdk/client-ec2'
import type { TextBudget } from '#base/foreign-text.ts'
import type { RawObject } from '#base/raw-object.ts'
import { readUserData } from '#clients/user-data.ts'
import { ec2PageMax, type TagFilter } from '#facts/aws/cluster-resources.ts'
import { launchTemplateVersionsMax } from '#facts/aws/limits.ts'
import { type AwsError, awsPages, countingSlowDowns, retryOptions } from './aws-failure.ts'
import type { CredentialSource } from './credentials.ts'

/** IAM actions of discovery. The collectors list the IAM actions that they need. */
export const ec2Permissions = ['ec2:DescribeLaunchTemplateVersions']

/** The referenced versions of one template: numbers, `$Default`, `$Latest`. */
export interface TemplateVersions {
  by: { id: string } | { name: string }
  versions: string[]
}

export interface LaunchTemplates {
  /** `LaunchTemplateVersion` of the model. One entry for each source of settings in the user data of a version, else one entry. */
  templates: RawObject[]
  /** Reasons why user data could not be read. */
  unread: string[]
}

export class Ec2Api {
  private readonly region: string
  private readonly client: EC2Client

  constructor(region: string, credentials: CredentialSource) {
    this.region = region
    this.client = countingSlowDowns('EC2', new EC2Client(retryOptions(region, credentials)))
  }

  /**
   * @param budget what the user data of all templates may still cost
   * @throws RequestFailure with a message for people, or the signal's reason
   */
  async launchTemplates(
    { by, versions }: TemplateVersions,
    signal: AbortSignal,
    budget: TextBudget | null = null,
  ): Promise<LaunchTemplates> {
    const templates: RawObject[] = []
    const unread: string[] = []
    // `versions` may name a version twice: by its number and as $Latest.
    const seen = new Set<number | undefined>()
    for (let start = 0; start < versions.length; start += launchTemplateVersionsMax) {
      const Versions = versions.slice(start, start + launchTemplateVersionsMax)
      for await (const version of this.versions(by, Versions, signal)) {
        if (seen.has(version.VersionNumber)) continue
        seen.add(version.VersionNumber)
        const read = partsOfTemplate(version, budget)
        templates.push(...read.templates)
        unread.push(...read.unread)
      }
    }
    return { templates, unread }
  }

  /** Yields pages of volumes in EC2's names, times as RFC 3339. @throws as launchTemplates */
  async *volumes(filters: readonly TagFilter[], signal: AbortSignal): AsyncGenerator<RawObject[]> {
    const config = { client: this.client, pageSize: ec2PageMax }
    const pages = paginateDescribeVolumes(config, filtersOf(filters), { abortSignal: signal })
    for await (const { Volumes = [] } of this.pages('DescribeVolumes', pages, signal))
      yield Volumes.map(
        ({
          VolumeId,
          Size,
          VolumeType,
          Iops,
          Throughput,
          State,
          CreateTime,
          AvailabilityZone,
          Attachments,
        }) => ({
          VolumeId,
          Size,
          VolumeType,
          Iops,
          Throughput,
          State,
          AvailabilityZone,
          CreateTime: CreateTime?.toISOString(),
          Attachments: Attachments?.map(({ InstanceId, Device }) => ({ InstanceId, Device })),
        }),
      )
  }

  /** Yields pages of instances, in the same form as `volumes`. @throws as launchTemplates */
  async *instances(
    filters: readonly TagFilter[],
    signal: AbortSignal,
  ): AsyncGenerator<RawObject[]> {
    const config = { client: this.client, pageSize: ec2PageMax }
    const pages = paginateDescribeInstances(config, filtersOf(filters), { abortSignal: signal })
    for await (const { Reservations = [] } of this.pages('DescribeInstances', pages, signal))
      yield Reservations.flatMap(({ Instances = [] }) => Instances).map(
        ({ InstanceId, InstanceType, State, LaunchTime, PrivateDnsName }) => ({
          InstanceId,
          InstanceType,
          PrivateDnsName,
          State: { Name: State?.Name },
          LaunchTime: LaunchTime?.toISOString(),
        }),
      )
  }

  close() {
    this.client.destroy()
  }

  private pages<Page>(what: string, pages: AsyncIterator<Page>, signal: AbortSignal) {
    return awsPages({ service: 'EC2', what, region: this.region, signal, explain }, pages)
  }

  private async *versions(
    by: TemplateVersions['by'],
    Versions: string[],
    signal: AbortSignal,
  ): AsyncGenerator<LaunchTemplateVersion> {
    const which = 'id' in by ? { LaunchTemplateId: by.id } : { LaunchTemplateName: by.name }
    const what = `DescribeLaunchTemplateVersions ${'id' in by ? by.id : by.name} (${Versions.join(', ')})`
    const { client } = this
    const query = { ...which, Versions }
    const pages = paginateDescribeLaunchTemplateVersions({ client }, query, { abortSignal: signal })
    for await (const { LaunchTemplateVersions = [] } of this.pages(what, pages, signal))
      yield* LaunchTemplateVersions
  }
}

const explain = ({ name, text }: AwsError) =>
  /^InvalidLaunchTemplate/.test(name) ? `there is no such thing (${text})` : null

function partsOfTemplate(
  {
    LaunchTemplateId,
    LaunchTemplateName,
    VersionNumber,
    LaunchTemplateData,
  }: LaunchTemplateVersion,
  budget: TextBudget | null,
): LaunchTemplates {
  const template = {
    launchTemplateId: LaunchTemplateId ?? '',
    launchTemplateName: LaunchTemplateName ?? '',
    versionNumber: VersionNumber ?? 0,
    volumes: (LaunchTemplateData?.BlockDeviceMappings ?? []).flatMap(({ DeviceName, Ebs }) =>
      DeviceName && Ebs?.VolumeSize ? [{ deviceName: DeviceName, sizeGiB: Ebs.VolumeSize }] : [],
    ),
  }
  const { settings, unread } = readUserData(LaunchTemplateData?.UserData ?? '', budget)
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

const filtersOf = (filters: readonly TagFilter[]) => ({
  Filters: filters.map(({ name, values }) => ({ Name: name, Values: values })),
})
