/** Japanese: rules on what pods, Jobs and controllers leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const workloads: RuleTexts = {
  'evicted-pods': {
    title: 'ノードが退避した Pod が残っています',
    why: 'kubelet は退避した Pod を失敗とし、削除することはありません。ReplicaSet は別の Pod を作り、古いものを残します。圧迫が再発するたびにたまり続け、pod GC が退避された Pod から先に削除するまで残ります。',
    fix: '退避の原因となる圧迫を解消し (方法は分類 eviction の検出事項が示します)、その後、残ったものを削除してください。',
  },
  'failed-pods': {
    title: '失敗した Pod が残っています',
    why: '失敗した Pod を削除するのはそれ自身のコントローラーだけで、ReplicaSet は残します。pod GC はクラスター全体で数千個に達するまで動きません。それまで一覧とダッシュボードを埋め、そのログはノードのディスクを占めます。',
    fix: '失敗した理由を確認し、その後、Pod またはそれを作ったものを削除してください。',
  },
  'job-history-beyond-limit': {
    title: 'CronJob が完了済み Job を必要以上に保持しています',
    why: 'CronJob は自身を処理するたびに、保持上限を超えた完了済み Job を古い順に削除します。上限より多いことは、その処理に至っていないことを意味します。既定値を大きく上回る上限は、それだけの数の Pod をログとともにノードに残します。',
    fix: 'successfulJobsHistoryLimit と failedJobsHistoryLimit を、実際に誰かが確認する数に設定してください (上流: 3 と 1)。上限より多く残っている場合は、CronJob のイベントを確認してください。',
  },
  'job-without-ttl': {
    title: 'TTL のない完了済み Job が残り続けます',
    why: '完了済み Job を終わらせるのは、所有者 (保持上限を持つ CronJob など) または ttlSecondsAfterFinished だけです。どちらもなければ Job は残り、ノード上の Pod とそのログ、終了したコンテナも残り、その分が pod GC のしきい値に数えられます。',
    fix: 'Job を作成する側で ttlSecondsAfterFinished を設定してください。すでに完了した Job にも設定でき、設定すれば Job は削除されます。',
  },
  'orphaned-dependent': {
    title: 'コントローラーが作ったオブジェクトに所有者がいません',
    why: '--cascade=orphan で削除された所有者は、作ったものを所有者のないまま残します。selector の合う新しいコントローラーがあれば引き取りますが、なければ誰も更新せず、誰も補充せず、誰も回収しません。所有者のない Pod と ReplicaSet は動作し続けます。',
    fix: 'selector の合うコントローラーを新たに作るか、残っているものを削除してください。',
  },
  'overdue-job-ttl': {
    title: 'Job が TTL を過ぎても残っています',
    why: 'TTL コントローラーは、TTL を過ぎた完了済み Job を foreground で削除します: Job は Pod の後に消えます。まだ残っている Job は、finalizer または消えない Pod が保持しているか、コントローラーの処理が及んでいません。',
    fix: 'Job が削除中の場合は、その finalizer と、削除が止まっている Pod を確認してください。削除中でない場合は、admission webhook が削除を拒否していないか確認してください。',
  },
  'pod-stuck-terminating': {
    title: 'Pod の削除が止まっています',
    why: '削除中の Pod は、kubelet が終了させ、finalizer がなくなると消えます。どちらかが行われなければ残ります: StatefulSet は次の Pod を作らず、ボリュームは接続されたままとなり、ノードの drain は終わりません。',
    fix: 'ノードを復旧するか削除してください。確実に停止している場合は、taint node.kubernetes.io/out-of-service を付けてください。finalizer の場合は、それを取り除くべきコントローラーを確認してください。強制削除は、確実に動作していないものに限ってください。',
  },
  'revision-history-beyond-limit': {
    title: '古いリビジョンが保持上限より多く残っています',
    why: 'Deployment は rollout が完了したときにのみ古い ReplicaSet を古い順に削除し、まだ replica を持つものは対象外とします: rollout が完了しない場合、履歴はそのたびに増えます。StatefulSet と DaemonSet は、Pod の使っていない ControllerRevision だけを数えます。',
    fix: '止まっている rollout を完了するか、元に戻してください。上限がないか非常に高い場合は、revisionHistoryLimit を誰かがロールバックしうる数に設定してください (上流: 10)。',
  },
  'suspended-leftover': {
    title: 'CronJob と Job が数か月にわたり一時停止しています',
    why: '一時停止中のものは何もせず、誰も回収しません: CronJob は最後の Job とその Pod を保持し、Job は誰かが再開するのを待ちます。',
    fix: '再開するか、削除してください。',
  },
  'terminated-pods-near-threshold': {
    title: '終了した Pod がまもなく数を理由に削除されます',
    why: 'しきい値を超えると、pod GC はクラスター全体の終了した Pod を、退避されたものから先に、種類を問わず古い順に削除します: 誰かがまだ待っている Job のログと終了コードもその中に含まれます。',
    fix: '終了した Pod がそれぞれの条件で消えるようにしてください: Job に TTL を設定し、CronJob の保持数を減らし、失敗した Pod を削除します。EKS ではしきい値自体も設定できます (kubeControllerManagerConfig)。',
  },
}
