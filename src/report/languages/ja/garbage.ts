/** Japanese, as in `en/garbage.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const garbage: Catalogue['garbage'] = {
  title: 'クラスターの残骸',
  lead: 'コントロールプレーンのコレクターが残したものと、誰も対処しない場合にどうなるかを示します。',
  columns: {
    what: '種類',
    count: '数',
    oldest: '最も古いもの',
    whose: '所属',
    fate: '消えるか',
    end: '片付け方',
  },
  kinds: {
    'evicted-pods': {
      name: 'ノードが退避した Pod',
      fate: '所有者とともに、または終了した Pod 全体の数によって削除',
    },
    'failed-pods': {
      name: '失敗した Pod',
      fate: '所有者とともに、または終了した Pod 全体の数によって削除',
    },
    'finished-pods': { name: '終了した Pod 全体' },
    'terminating-pods': { name: '削除中の Pod' },
    'jobs-without-ttl': {
      name: 'TTL のない完了済み Job',
      fate: '削除するものがない: ttlSecondsAfterFinished も所有者もない',
    },
    'owned-jobs': {
      name: 'ほかの所有者を持つ、TTL のない完了済み Job',
      fate: '所有者とともに、または所有者によって削除',
    },
    'jobs-with-ttl': { name: 'TTL のある完了済み Job', fate: 'TTL コントローラーが削除' },
    'overdue-jobs': {
      name: 'TTL を過ぎた Job',
      fate: { late: 'TTL コントローラーがすでに削除しているはず' },
    },
    'cronjob-history': {
      name: 'CronJob の完了済み Job',
      fate: {
        late: '一部が CronJob の保持上限を超えており、CronJob が削除する',
        with: 'CronJob がこの数を保持する',
      },
    },
    'suspended-jobs': {
      name: '一時停止中の Job と CronJob',
      fate: '誰かが再開または削除するまで待機',
    },
    'old-replica-sets': {
      name: '保持上限を超えた古い ReplicaSet',
      fate: { late: 'Deployment コントローラーがすでに削除しているはず' },
    },
    'controller-revisions': {
      name: '保持上限を超えた ControllerRevision',
      fate: 'コントローラーが Pod の使っていないものを削除する。どれかは取得していない',
    },
    'released-volumes': {
      name: 'クレームがなく保持されるボリューム',
      fate: 'reclaim policy Retain: 誰も削除しない',
    },
    'undeleted-volumes': {
      name: 'クレームがなく削除予定のボリューム',
      fate: {
        late: 'ドライバーがすでに削除しているはず',
        never: 'このクラスターにはこのようなボリュームを削除できるものがない',
      },
    },
    'held-volumes': { name: '削除中のボリュームとクレーム' },
    'retained-ephemeral-volumes': {
      name: 'ポリシーが Retain の一時ボリューム',
      fate: 'Pod がなくなってもボリュームが残る',
    },
    'unattached-disks': {
      name: '接続されていない EBS ディスク',
      fate: {
        never: 'どのクレームのものでもなく、誰も削除しない',
        unknown: 'ボリュームをすべて取得できていない。参照するものがある可能性がある',
      },
    },
    'instances-without-node': {
      name: 'ノードでないインスタンス',
      fate: '誰かが終了するまで稼働し、費用がかかる',
    },
    'nodes-without-instance': {
      name: 'インスタンスのないノード',
      fate: 'cloud controller がすでに削除しているはず',
    },
    'not-ready-nodes': { name: 'Ready でないノード', fate: 'インスタンスが存在する限り残る' },
    'left-taints': {
      name: 'Ready ノードに残った taint',
      fate: '誰も取り除かず、Pod がこれらのノードを避ける',
    },
    'leftover-leases': { name: 'なくなったノードの Lease', fate: '所有者がなく、誰も削除しない' },
    'collectable-leases': {
      name: 'ノードがない、または入れ替わった Lease',
      fate: 'ガベージコレクターが削除',
    },
    'overdue-leases': {
      name: 'ノードとともに消えるはずだった Lease',
      fate: 'ガベージコレクターがすでに削除しているはず',
    },
    'unrenewed-leases': { name: 'ノードが更新していない Lease', fate: 'Node とともに消える' },
    'unknown-leases': { name: '取得できなかったノードの Lease', fate: 'ノードがあるかどうか不明' },
    'identity-leases': {
      name: 'なくなった API サーバーの Lease',
      fate: {
        never: 'このラベルを回収するこのバージョンの API サーバーがない',
        late: '別の API サーバーがすでに削除しているはず',
        itself: '別の API サーバーが 1 時間以内に削除',
      },
    },
    'waiting-requests': {
      name: '待機中の証明書要求',
      fate: '作成または承認の 1 日後に cleaner が削除',
    },
    'superseded-requests': {
      name: '後の要求に置き換えられた証明書要求',
      fate: '作成または承認の 1 日後に cleaner が削除',
    },
    'answered-requests': { name: '回答済みの証明書要求', fate: '回答の 1 時間後に cleaner が削除' },
    'overdue-requests': {
      name: '期限を過ぎた証明書要求',
      fate: 'cleaner がすでに削除しているはず',
    },
    'unissued-requests': {
      name: '承認されたが発行されていない証明書要求',
      fate: 'このバージョンの cleaner は削除しない',
    },
    'terminating-namespaces': { name: '削除中の Namespace' },
    'unanswered-groups': {
      name: '応答しない API グループのバージョン',
      fate: '応答するまで、削除中の Namespace は消えない',
    },
    'dangling-objects': {
      name: '所有者がなくなったオブジェクト',
      fate: 'ガベージコレクターがすでに削除しているはず',
    },
    'unserved-owners': {
      name: 'API が提供しない種類の所有者を持つオブジェクト',
      fate: 'ガベージコレクターが再試行し続ける',
    },
    'foreign-owners': {
      name: '別の Namespace に所有者がいるオブジェクト',
      fate: {
        late: '必要かどうかにかかわらず、ガベージコレクターがすでに削除しているはず',
        itself: '必要かどうかにかかわらずガベージコレクターが削除',
      },
    },
    'foreign-references': {
      name: '別の Namespace に余分な所有者がいるオブジェクト',
      fate: 'ガベージコレクターがその参照を取り除く',
    },
    'namespaced-owners': {
      name: 'Namespace 内の所有者を持つクラスタースコープのオブジェクト',
      fate: 'ガベージコレクターは回収しない',
    },
    'blocked-owners': { name: '従属オブジェクトを待つ所有者' },
    'orphaned-objects': {
      name: 'コントローラーが残したオブジェクト',
      fate: '所有者がなく、誰も削除しない',
    },
    'held-objects': { name: 'finalizer が保持するその他のオブジェクト' },
    'collector-failures': {
      name: 'コレクターが削除できないと告げたオブジェクト',
      fate: '再試行し、イベントで知らせる',
    },
  },
  needs: {
    pods: 'Pod',
    jobs: 'Job',
    leases: 'Lease',
    history: 'ワークロードの履歴',
    nodes: 'Node',
    events: 'コレクターのイベント',
    volumes: 'ボリューム',
    certificates: '証明書要求',
    namespaces: 'Namespace',
    apis: 'API グループ',
    owners: '所有者',
    finalizers: 'finalizer',
    disks: 'EBS ディスク',
    instances: 'インスタンス',
  },
  heads: {
    never: '残る',
    late: '遅延',
    held: '保留',
    threshold: '数による',
    unknown: '不明',
    with: '自動ではない',
    itself: '自動',
  },
  beforeFate: ': ',
  notRead: '未取得:',
  moreClusters: 'その他のクラスター',
  clustersLeftOut: count => `ほか ${n(count)} クラスターは省略しました。`,
  findingsOnIt: '関連する検出事項',
  caption: cluster => `${cluster} に残っているもの`,
  nothingLies: '残っているものなし',
  nothingToClean: '片付けるものなし',
  toClean: count => `片付けるオブジェクト ${n(count)} 種類`,
  notAllRead: '一部未取得',
  clean: needs => `調査の結果、残っているものなし: ${needs.join('、')}。`,
  moreReasons: count => `残り ${n(count)} 件の理由は「未監査」にあります。`,
  young: (count, hours) => `${count === null ? '' : `うち ${n(count)} 件は`}${hours}時間未満`,
  waived: '免除済み',
  times: count => ` (${n(count)})`,
  notLooked: '残骸を調べたクラスターはありません (ポリシー clusterGarbage)。',
  coverage: (looked, all, read, lists) =>
    `${all > looked ? `${n(all)} クラスター中 ` : ''}${n(looked)} クラスターを調査し、${n(lists)} 個のリスト中 ${n(read)} 個を最後まで取得しました。`,
  notSwept: count =>
    `ほかの ${n(count)} 種類のオブジェクトでは、finalizer による保留を調べていません (ポリシー clusterGarbage.sweep)。`,
  podGcOff: 'pod GC は削除しない設定',
  assumed: limit => `${limit} (仮定)`,
  excess: (finished, limit, excess) =>
    `終了した Pod ${n(finished)} 個のうち pod GC は ${limit} 個を保持: 古い順に ${n(excess)} 個が次回削除される`,
  below: (limit, finished) =>
    `pod GC は終了した Pod が ${limit} 個を超えると開始: 現在 ${n(finished)} 個`,
  firstAndLast: (first, last) => `最初は${first}、最後は${last}`,
  anyMoment: 'まもなく',
  in: duration => `${duration}後`,
  assumedThreshold:
    '仮定: EKS はコントロールプレーンの pod GC のしきい値を示さないため、上流の既定値を用いています。',
  assumedPrices:
    '費用: us-east-1 の EBS の定価。プロビジョンド IOPS とスループットは、EC2 に問い合わせたディスクの分だけを含みます。',
  cost: usd => `月額約 ${usd}\u00a0USD`,
  gap: (why, needs) => `${why}。そのため完全には把握できないもの: ${needs.join('、')}。`,
  mail: {
    title: cost => `クラスターの残骸${cost === null ? '' : `: ${cost}`}`,
    more: count => `ほか ${n(count)} クラスターはレポートにあります。`,
    kind: (name, count, size) => `${name}: ${n(count)}${size === '' ? '' : ` (${size})`}`,
    young: (count, hours) => `ほかに ${n(count)} 件が${hours}時間未満`,
    kinds: (kinds, more) => `${kinds.join('; ')}${more > 0 ? `; ほか ${n(more)} 種類` : ''}。`,
    gap: gap => `未取得: ${gap}`,
    moreGaps: count => `ほか ${n(count)} 個のリストを取得できませんでした。`,
  },
}

export const ofGarbage = { garbage }
