/** Japanese, as in `en/mail.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const subject: Catalogue['subject'] = {
  cutShort: subject => `[途中終了] ${subject}`,
  signed: (verdict, from) => `${verdict} - ${from}`,
  evicting: (severity, count) => `${severity}、現在 ${n(count)} ノードが退避中`,
  changed: (severity, counts, count, where) => `${severity}: ${counts}; ${where} 計 ${n(count)} 件`,
  nothingNew: (severity, tallied, where) => `${severity}、変更なし: ${where} ${tallied.join('、')}`,
  first: (severity, tallied, where) => `${severity}: ${where} ${tallied.join('、')}`,
  empty: (headline, counts, scope) => `${headline}: ${counts === '' ? '' : `${counts}; `}${scope}`,
  someClusters: (count, all) =>
    all > count ? `${n(all)} クラスター中 ${n(count)} クラスター` : `${n(count)} クラスター`,
  andSo: counts => `${counts.join('、')}、…`,
}

const changes: Catalogue['changes'] = {
  labels: {
    new: '新規',
    back: '再発',
    worse: '悪化',
    seen: '初めて確認',
    better: '改善',
    unclear: '判断不能',
    moved: '別のノード',
    waived: '免除',
    unchanged: '変化なし',
  },
  counts: {
    new: count => `新規 ${n(count)} 件`,
    back: count => `再発 ${n(count)} 件`,
    worse: count => `悪化 ${n(count)} 件`,
    seen: count => `初めて確認 ${n(count)} 件`,
    better: count => `改善 ${n(count)} 件`,
    resolved: count => `解消 ${n(count)} 件`,
    gone: count => `ノードとともに消失 ${n(count)} 件`,
    unread: count => `完全には取得できなくなったノードまたはクラスター ${n(count)}`,
    unclear: (count, critical) =>
      `判断不能 ${n(count)} 件${critical === 0 ? '' : ` (致命的 ${n(critical)} 件)`}`,
    moved: count => `移動 ${n(count)} 件`,
    waived: count => `免除 ${n(count)} 件`,
    absent: count => `見つからなくなったクラスター ${n(count)}`,
    unreadNewcomers: count => `完全には取得できなかった新しいノードまたはクラスター ${n(count)}`,
  },
  standing: (count, tallied) =>
    `変化のない検出事項 ${n(count)} 件: ${tallied.join('、')}。詳細はレポートにあります。`,
  nothing: time => `${time} の実行から変化はありません。`,
  some: (time, counts) => `${time} の実行以降: ${counts.join('、')}。`,
  absent: (names, more, count, tallied) => {
    const which = `${names.join('、')}${more > 0 ? ` ほか ${n(more)}` : ''}`
    return `この実行に含まれないクラスター: ${which}。${count === 0 ? '' : `そこでの検出事項 ${n(count)} 件は最終確認時のままです: ${tallied.join('、')}。`}`
  },
  hidden: count => `以前に検出され、今回は判断できない検出事項 ${n(count)} 件`,
  lastSeen: day => `最終確認 ${day}`,
  moreHidden: (count, tallied) => `ほか ${n(count)} 件: ${tallied.join('、')}。`,
  ended: '終了した検出事項',
  moreEnded: count => `ほか ${n(count)} 件。`,
}

const told: Catalogue['told'] = {
  some: (shown, all) => `変化した、または緊急の検出事項 ${n(all)} 件中 ${n(shown)} 件`,
  changedAndUrgent: '変化した検出事項と緊急の検出事項',
  urgent: '緊急の検出事項',
  worst: (shown, all) => `検出事項 ${n(all)} 件のうち重大な ${n(shown)} 件`,
  all: count => `検出事項 ${n(count)} 件`,
  more: (count, tallied) => `残り ${n(count)} 件はレポートにあります: ${tallied.join('、')}。`,
  configInReport: count => `KubeletConfiguration の ${n(count)} 行はレポートにあります`,
  inReport: (commands, targets, moreTargets) => {
    const named = `${targets.join('、')}${moreTargets > 0 ? ` ほか ${n(moreTargets)} 件` : ''}`
    const parts = [
      ...(commands > 0 ? [`コマンド ${n(commands)} 件`] : []),
      ...(targets.length > 0 ? [`恒久的に適用するための設定 (${named})`] : []),
    ]
    return `レポートに収録: ${parts.join('、')}。`
  },
  whatToDo: '対処:',
  inConfiguration: 'KubeletConfiguration の設定:',
}

const notAudited: Catalogue['notAudited'] = {
  more: (reasons, entries) =>
    `ほかの理由 ${n(reasons)} 件 (ノードまたはクラスター ${n(entries)}) はレポートにあります。`,
  cluster: name => `クラスター ${name}`,
  clusterCount: count => `${n(count)} クラスター`,
  clusters: (count, names) => `${n(count)} クラスター: ${names}`,
  nodes: (count, cluster, names) => `${cluster} の ${n(count)} ノード: ${names}`,
  names: (names, more) => `${names.join('、')}${more > 0 ? ` ほか ${n(more)}` : ''}`,
}

const cutShort: Catalogue['cutShort'] = {
  title: 'この実行は途中で終了しました',
  unread: count => `${n(count)} ノードを取得できず`,
  partly: count => `${n(count)} ノードを一部のみ取得`,
  clusters: count => `${n(count)} クラスターを最後まで取得できず`,
  text: (parts, why) => `${parts.join('、')}: ${why}。以下の内容には含まれません。`,
}

const report: Catalogue['report'] = {
  title: 'レポート全文',
  open: 'レポートを開く',
  openAt: 'レポートを開く:',
  attached: isKept =>
    `このメールに report.html として添付しています。${isKept ? '' : '保存先はありません。'}`,
  channels: { s3: 'S3', folder: 'フォルダー', ses: 'SES' },
  place: (channel, location) => `${channel}: ${location}`,
  morePlaces: count => `ほか ${n(count)} か所`,
  moreChannels: count => `ほか ${n(count)} チャネル`,
  notDelivered: channel => `配信失敗: ${channel}`,
  undelivered: channels => `配信失敗: ${channels.join('、')}。理由はこのメールの末尾にあります。`,
  failed: '失敗しましたが、理由は記録されていません。',
}

const mail: Catalogue['mail'] = {
  snapshot: time => `スナップショット: ${time}`,
  audience: owner => `${owner} の担当範囲のみ`,
  waived: count => `ポリシーで免除された ${n(count)} 件は集計に含みません`,
  unsubscribe: addresses => `配信停止: ${addresses.join(' または ')}`,
  footer: (version, account, region) =>
    `highwater ${version}、アカウント ${account}、リージョン ${region}`,
  headings: {
    cutShort: '途中で終了した実行',
    verdict: '判定',
    findings: '検出事項',
    hidden: '判断できない検出事項',
    ended: '終了',
    garbage: 'クラスターの残骸',
    plan: '修復計画',
    notAudited: '未監査',
    report: 'レポート全文',
  },
  brief: {
    cutShort: (title, text) => `${title}: ${text}`,
    finding: (severity, label, title, where) =>
      `- ${severity}${label === null ? '' : ` (${label})`}: ${title}: ${where}`,
    more: '- 残りはレポートにあります',
    hidden: (title, list) =>
      `${title}: ${list.map(one => `${one.severityWord}: ${one.title} (${one.where})`).join('; ')}`,
    ended: (title, list) =>
      `${title}: ${list.map(one => `${one.title} (${one.where}): ${one.how}`).join('; ')}`,
    gaps: gaps => `この判定に含まれないもの: ${gaps}`,
    report: link => `レポート: ${link}`,
  },
}

export const ofMail = { subject, changes, told, notAudited, cutShort, report, mail }
