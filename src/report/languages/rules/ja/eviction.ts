/** Japanese: rules on eviction. */
import type { RuleTexts } from '#report/languages/language.ts'

export const eviction: RuleTexts = {
  'absolute-threshold-on-mixed-disks': {
    title: '大きさの大きく異なるディスクに同じ絶対値の退避しきい値を使っています',
    why: '大きなディスクの 10 分の 1 に当たる量は、小さなディスクでは半分に当たります。グループの小さいノードは半分空いているうちに退避を行うか、大きいノードは余裕がほとんど残りません。',
    fix: 'サイズの異なるディスクがあるグループでは、ディスクのしきい値をパーセントで記述するか、グループを分けてください。',
  },
  'critical-pod-among-first-victims': {
    title: 'ノードに必要な Pod が最初の退避対象に含まれています',
    why: '退避されないのは static Pod と、priority 2000000000 以上の Pod だけです。この priority を持たない kube-system の DaemonSet の Pod (またはポリシーが criticalPods に挙げる Pod) はほかの Pod と同じように退避され、ここでは最初の 3 つに含まれます。それとともにノードのネットワーク、ボリューム、または DNS が失われます。',
    fix: 'その Pod に priorityClassName system-node-critical (または system-cluster-critical) と、使用量をまかなう requests を設定してください。',
  },
  'eviction-due': {
    title: '退避しきい値に到達し、kubelet が退避を行います',
    why: 'ノードは現在しきい値を下回っています。condition を報告し、taint が付き、Pod を拒否し、再びしきい値を上回るまで Pod を 1 つずつ退避します。',
    fix: 'ただちに空きを作ってください: 大きくて不要なものを削除するか、ノードを drain してください。その後、何が増えているのかと、しきい値を確認してください。',
  },
  'eviction-loop': {
    title: '同じ所有者の Pod がこのノードで繰り返し退避されています',
    why: 'kubelet が退避したものを所有者が補充し、補充された Pod がノードを再び満杯にします。すべての DaemonSet の Pod のように圧迫の taint を許容する Pod は、同じノードにそのまま戻ってきます。圧迫が続く間、kubelet はそれらを受け入れ時に拒否し、これも退避として数えられます。',
    fix: 'コンテナに、使用量をまかなう ephemeral-storage (または memory) の requests と limits を設定し、emptyDir ボリュームに sizeLimit を設定してください。node.kubernetes.io/disk-pressure、memory-pressure、pid-pressure の toleration と、operator が Exists で key のない toleration を取り除いてください。DaemonSet にはテンプレートの内容にかかわらずこれらが付きます。',
  },
  'grace-longer-than-fill-time': {
    title: 'ソフトしきい値の猶予時間が終わる前にディスクが満杯になります',
    why: 'ソフトしきい値は、猶予時間の全体にわたって到達し続けた場合にのみ退避を行います。ディスクがソフトしきい値からハードしきい値までそれより短い時間で増える場合、ハードしきい値が待たずに先に働き、ソフトしきい値は condition と taint にしかなりません。ハードしきい値がなければ、その時点でディスクは満杯です。',
    fix: 'そのシグナルの evictionSoftGracePeriod を短くするか、evictionSoft を evictionHard よりさらに高く設定してください。ディスクの増加量として仮定する値はポリシー assumedGrowthPercent です。',
  },
  'local-storage-limit-exceeded': {
    title: 'Pod が自身のローカルストレージ上限を超え、kubelet が退避します',
    why: 'ephemeral-storage の limits と emptyDir ボリュームの sizeLimit は、ノードが圧迫状態かどうかにかかわらず、退避の確認のたびに検査されます。超えた Pod はただちに退避され、所有者が次の Pod を起動し、それが再び満杯になります。',
    fix: '上限を Pod に必要な量まで上げるか、Pod の書き込み量を減らしてください: 標準出力へのログも数えられます。',
  },
  'lost-default-threshold': {
    title: '既定の退避しきい値が失われ、代わりに監視するものがありません',
    why: 'evictionHard を設定する kubelet 設定は、既定値の map 全体を置き換えます: 指定していないシグナルはすべてオフになります。そのシグナルが監視するはずだったものは、退避が行われないまま満杯になる可能性があります。',
    fix: '既定のものも含めてすべてのシグナルを evictionHard に指定するか、mergeDefaultEvictionSettings: true (kubelet 1.33 以降) を設定してください。オフにするシグナルは 0% と記述します。',
  },
  'memory-threshold-too-small': {
    title: 'メモリのしきい値が kubelet の既定値より小さくなっています',
    why: 'eviction manager は 10 秒ごとに確認します。しきい値が残すメモリが少ないほど、2 回の確認の間にカーネルのメモリが不足し、kubelet が Pod を退避する代わりに、カーネルが独自の順序でプロセスを強制終了する可能性が高くなります。',
    fix: 'evictionHard memory.available を 100Mi 以上に設定してください。使用量が急増する大きなノードでは数百 MiB に設定してください。',
  },
  'pods-without-ephemeral-requests-first': {
    title: 'ディスク圧迫時、ephemeral storage を要求しない小さな Pod が先に退避されます',
    why: '要求より多くのローカルストレージを使う Pod は、それぞれの使用量にかかわらず、そうでない Pod より先に退避されます。要求がなければ、1 バイトでも超過になります。ここでは、ディスクをほとんど使わない Pod が多く使う Pod より先に退避され、退避しても解放される量はわずかです。',
    fix: 'ログ、書き込みレイヤー、emptyDir ボリュームをまかなう ephemeral-storage の requests を Pod に設定してください (LimitRange で Namespace の既定値を設定できます)。',
  },
  'short-transition-period': {
    title: '圧迫状態のあと、ノードが早く Pod を受け入れすぎます',
    why: 'evictionPressureTransitionPeriod は、しきい値に最後に到達してから condition が残る時間です。既定値の 5 分 (image GC の 1 周期) より短いと、退避以外の何かが空きを作る前にスケジューラーが Pod を戻します: 退避、再スケジュール、退避の繰り返しです。',
    fix: 'evictionPressureTransitionPeriod を 5m0s に設定するか、指定を省いてください。',
  },
  'soft-threshold-without-grace': {
    title: 'ソフト退避しきい値に猶予時間がなく、ハードしきい値として働きます',
    why: 'kubelet は猶予時間だけでハードとソフトを区別します。0s の場合、しきい値を下回った最初の確認で退避を行い、1.31 以降は Pod に終了のための時間も与えません。',
    fix: 'evictionSoftGracePeriod でそのシグナルに時間を指定するか、ハードを意図する場合はしきい値を evictionHard に移してください。',
  },
  'unreachable-min-reclaim': {
    title: '最小回収量が実際の容量を超えています',
    why: 'しきい値に到達すると、シグナルは、しきい値と最小回収量の合計が利用可能になるまで到達したままと見なされます。その合計が容量全体以上の場合、その状態が終わることはありません: kubelet は退避できるすべての Pod を退避し、condition は残ります。',
    fix: 'そのシグナルの evictionMinimumReclaim を容量の数パーセントまで下げてください。',
  },
  'unreachable-soft-threshold': {
    title: 'ソフト退避しきい値が働くことはありません',
    why: '同じシグナルのハードしきい値に先に到達するため、ソフトしきい値が約束する猶予時間が Pod に与えられません。',
    fix: 'そのシグナルの evictionSoft を evictionHard より高く設定するか、取り除いてください。',
  },
  'unwatched-imagefs': {
    title: 'イメージ用ディスクを監視する退避しきい値がありません',
    why: 'イメージは独立したファイルシステムにあり、有効な imagefs.available しきい値がありません。nodefs のしきい値はこれを監視しません: 満杯になってもノードは DiskPressure のないまま Ready で、イメージの取得とコンテナの書き込みは失敗します。すべてが 1 つのディスクにある場合はどちらかのしきい値で監視され、両方がオフであれば監視するものがありません。',
    fix: 'evictionHard imagefs.available (および imagefs.inodesFree) を、map のほかのシグナルとともに設定してください: map は全体が置き換えられます。',
  },
  'unwatched-inodes': {
    title: 'ファイルシステムの inode が監視されないまま枯渇する可能性があります',
    why: '有効な inodesFree しきい値がありません。多数の小さなファイルは、バイト数が残っているうちに inode を使い切ります: 書き込みは "no space left on device" で失敗し、ノードは DiskPressure を示しません。image GC が見るのはバイト数だけです。',
    fix: 'evictionHard nodefs.inodesFree (イメージが独立したディスクにある場合は imagefs.inodesFree) を 5% に、map のほかのシグナルとともに設定してください。',
  },
  'unwatched-pids': {
    title: 'プロセス ID が不足しつつありますが、監視するものがありません',
    why: 'pid.available には既定のしきい値がありません。ノードのプロセス ID の残りが 20 % 未満では (スレッドも数えられます)、Pod が 1 つ増えるだけで残りを使い切る可能性があります: そうなるとノード上の何もプロセスを起動できず、kubelet とランタイムも同様です。',
    fix: 'evictionHard pid.available を map のほかのシグナルとともに設定し、podPidsLimit も設定してください。これほど多くのスレッドを起動しているものを調べてください。',
  },
  'useless-eviction': {
    title: 'すべての Pod を退避しても十分な空きができません',
    why: 'kubelet が削除できるのは、イメージ、終了したコンテナ、および Pod とそのログ、書き込みレイヤー、emptyDir ボリュームだけで、ほかは削除できません。ホストのファイル、hostPath ボリューム、または Kubernetes の外で動作するものがディスクを占めている場合、kubelet は Pod を次々に退避しますが、ノードは DiskPressure のままとなり、Pod は戻りません。',
    fix: 'ノードにログインし、ディスクを占めているものを確認してください (マウントポイントに対する du: journal、core dump、hostPath のフォルダー、パッケージキャッシュ)。それを取り除くか、より大きなディスクを持つノードに入れ替えてください。しきい値を変えても解決しません。誰もこのノードを待たないように cordon してください。',
  },
  'zero-min-reclaim-thrash': {
    title: '満杯のディスクで、退避がしきい値のすぐ上で止まっては再開します',
    why: 'ディスクのしきい値に到達しているか、到達したばかりで DiskPressure がまだ続いており、そのシグナルに最小回収量がありません。kubelet はしきい値を上回る分だけを解放し、次の書き込みで再び到達するため、1 回につきわずかなバイト数のために Pod が次々に失われます。',
    fix: 'evictionMinimumReclaim にそのシグナルの値を、ディスクの数パーセントで設定してください。',
  },
}
