/** Texts of the e-mail: its subject, its HTML part and its text part. */
import { counted, formatCount } from '#report/numbers.ts'
import { clusters, findings, nodes } from './counts.ts'

const subject = {
  cutShort: (subject: string) => `Cut short. ${subject}`,
  /** `from`: the name highwater, the owner and the day. */
  signed: (verdict: string, from: string) => `${verdict} - ${from}`,
  /** `first`: the node that is nearest to eviction. */
  evicting: (count: number, first: string, cluster: string) =>
    `${nodes(count)} ${count === 1 ? 'evicts now:' : 'evict now, first'} ${first} (${cluster})`,
  changed: (severity: string, counts: string, count: number, where: string) =>
    `${severity}: ${counts}; ${findings(count)} in ${where}`,
  nothingNew: (severity: string, tallied: string[], where: string) =>
    `${severity}, nothing new: ${tallied.join(', ')} in ${where}`,
  first: (severity: string, tallied: string[], where: string) =>
    `${severity}: ${tallied.join(', ')} in ${where}`,
  empty: (headline: string, counts: string | null, scope: string) =>
    `${headline}: ${counts === null ? '' : `${counts}; `}${scope}`,
  /** `all` null: `count` is the number of all clusters. */
  someClusters: (count: number, all: number | null) =>
    all === null ? clusters(count) : `${formatCount(count)} of ${clusters(all)}`,
  /** The first few counts, if there are more. */
  andSo: (counts: string[]) => `${counts.join(', ')} and more`,
}

const labels = {
  new: 'New',
  regressed: 'Back again',
  worse: 'Worse',
  newlySeen: 'Seen for the first time',
  better: 'Better',
  cannotTell: 'Unclear',
  moved: 'On other nodes',
  waivedSince: 'Waived',
  unchanged: 'Unchanged',
}

const changes = {
  labels,
  counts: {
    new: (count: number) => `${formatCount(count)} new`,
    regressed: (count: number) => `${formatCount(count)} back again`,
    worse: (count: number) => `${formatCount(count)} worse`,
    newlySeen: (count: number) => `${formatCount(count)} seen for the first time`,
    better: (count: number) => `${formatCount(count)} better`,
    resolved: (count: number) => `${formatCount(count)} resolved`,
    gone: (count: number) => `${formatCount(count)} removed with their nodes`,
    unread: (count: number) =>
      `${counted(count, 'node or cluster', 'nodes or clusters')} no longer fully read`,
    cannotTell: (count: number, critical: number) =>
      `${formatCount(count)} unclear${critical === 0 ? '' : ` (${formatCount(critical)} critical)`}`,
    moved: (count: number) => `${formatCount(count)} moved`,
    waivedSince: (count: number) => `${formatCount(count)} waived`,
    absent: (count: number) => `${clusters(count)} no longer found`,
    unreadNewcomers: (count: number) =>
      `${counted(count, 'new node or cluster', 'new nodes or clusters')} not fully read`,
  },
  nothing: (time: string) => `Nothing has changed since the run of ${time}.`,
  some: (time: string, counts: string[]) => `Since the run of ${time}: ${counts.join(', ')}.`,
  absent: (names: string[], more: number, count: number, tallied: string[]) => {
    const which = `${names.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`
    return `Not in this run: ${which}.${count === 0 ? '' : ` ${findings(count)} there, as last seen: ${tallied.join(', ')}.`}`
  },
  hidden: (count: number) => `${findings(count)} of the last run that could not be checked today`,
  lastSeen: (day: string) => `last seen ${day}`,
  moreHidden: (count: number, tallied: string[]) =>
    `and ${counted(count, 'more finding')}: ${tallied.join(', ')}.`,
  ended: 'Ended',
  title: 'Changes since the last run',
  none: 'no change',
  /** The time of the run stands between the next two texts. */
  comparedBefore: 'Compared with the run of ',
  comparedAfter: ': ',
  moreInDiff: (count: number) => `${formatCount(count)} more: highwater diff lists all.`,
  moreEnded: (count: number) => `and ${counted(count, 'more finding')}.`,
}

const notAudited = {
  more: (reasons: number, entries: number) =>
    `and ${counted(reasons, 'more reason')} (${counted(entries, 'node or cluster', 'nodes or clusters')}) in the report.`,
  cluster: (name: string) => `Cluster ${name}`,
  clusterCount: clusters,
  clusters: (count: number, names: string) => `${clusters(count)}: ${names}`,
  nodes: (count: number, cluster: string, names: string) =>
    `${nodes(count)} of ${cluster}: ${names}`,
  names: (names: string[], more: number) =>
    `${names.join(', ')}${more > 0 ? ` and ${formatCount(more)} more` : ''}`,
}

const cutShort = {
  title: 'This run was cut short',
  unread: (count: number) => `${nodes(count)} not read`,
  partly: (count: number) => `${nodes(count)} only partly read`,
  clusters: (count: number) => `${clusters(count)} not fully read`,
  text: (parts: string[], why: string) =>
    `${parts.join(', ')}: ${why}. They are not covered below.`,
}

const report = {
  title: 'The whole report',
  open: 'Open the report',
  openAt: 'Open the report:',
  openWith: 'Open the report with your own AWS rights:',
  attached: (isKept: boolean) =>
    `It is attached to this mail: report.html.${isKept ? '' : ' It is not stored anywhere else.'}`,
  channels: { s3: 'S3', folder: 'Folder', ses: 'SES' } as Partial<Record<string, string>>,
  place: (channel: string, location: string) => `${channel}: ${location}`,
  morePlaces: (count: number) => `and ${counted(count, 'more place')}`,
  moreChannels: (count: number) => `and ${counted(count, 'more channel')}`,
  notDelivered: (channel: string) => `Not delivered: ${channel}`,
  undelivered: (channels: string[]) =>
    `Not delivered: ${channels.join(', ')}. See the end of this mail.`,
  failed: 'It failed, and no reason was recorded.',
}

const mail = {
  snapshot: (time: string) => `Snapshot of ${time}`,
  audience: (owner: string) => `For ${owner}: only their clusters and groups`,
  waived: (count: number) => `${findings(count)} waived by policy, not counted here`,
  unsubscribe: (addresses: string[]) => `Unsubscribe: ${addresses.join(', ')}`,
  footer: (version: string, account: string, region: string) =>
    `highwater ${version}, account ${account}, region ${region}`,
  /** Headings of the text part. */
  headings: {
    cutShort: 'THIS RUN WAS CUT SHORT',
    verdict: 'VERDICT',
    causes: 'CAUSES',
    hidden: 'NOT CHECKED TODAY',
    ended: 'ENDED',
    plan: 'PLAN',
    nodeChanges: 'CHANGES TO NODES',
    notAudited: 'NOT AUDITED',
    report: 'THE WHOLE REPORT',
  },
  /** A mail in a few lines, for messengers. */
  brief: {
    cutShort: (title: string, text: string) => `${title}: ${text}`,
    next: (state: string, name: string, where: string) => `${state}: ${name} (${where})`,
    cause: (severity: string, label: string | null, title: string, where: string, step: string) =>
      `- ${severity}${label === null ? '' : ` (${label.toLowerCase()})`}: ${title}: ${where}. Step: ${step}`,
    more: '- more in the report',
    hidden: (severity: string, title: string, where: string) => `${severity}: ${title} (${where})`,
    ended: (title: string, where: string, how: string) => `${title} (${where}): ${how}`,
    gaps: (gaps: string) => `Not in this verdict: ${gaps}`,
    report: (link: string) => `Report: ${link}`,
  },
}

export const ofMail = { subject, changes, notAudited, cutShort, report, mail }
