/** Japanese: rules on reservations, logs, drift and what else is set on a node. */
import type { RuleTexts } from '#report/languages/language.ts'

export const settings: RuleTexts = {
  'allocatable-mismatch': {
    title: 'ノードが提供するリソースが設定から導かれる値と異なります',
    why: 'allocatable は、容量から予約とハード退避しきい値を引いた値です。それ以外の値を報告するノードは、設定に現れないもの (--experimental-allocatable-ignore-eviction などのフラグ) で動作しているか、kubelet の起動後に変化したか、status を別の何かに書き換えられています。スケジューラーはこの status を信じます。',
    fix: 'マシンまたはその設定が変わった場合は kubelet を再起動してください。そうでない場合は、kubelet のフラグと、ノードの status を書き込んでいるものを確認してください。',
  },
  'baseline-drift': {
    title: 'ノードが意図と異なる kubelet 設定で稼働しています',
    why: 'ポリシーの baseline は、ノードが本来どの設定で稼働すべきかを示します。baseline の記述がない場合、EKS イメージのノードは launch template または node class で宣言された設定で稼働し、それ以外はすべて AMI が書き込む設定で稼働します。これらと異なるものはノード上で変更されたものであり、ノードの入れ替え時に失われます。',
    fix: 'baseline の内容をノードの作成元 (launch template、NodeConfig、EC2NodeClass) に設定するか、意図する内容を policy.baseline に記述してください。',
  },
  'cgroup-v1': {
    title: 'ノードが cgroup v1 で稼働しており、kubelet が拒否します',
    why: '1.35 以降の kubelet は、failCgroupV1 が false に設定されていない限り、cgroup v1 では起動時に終了します。v1 のサポートは修正のみとなり、いずれなくなります。',
    fix: 'ノードを cgroup v2 のイメージ (AL2023、Bottlerocket) に入れ替えてください。それまでは failCgroupV1: false とすれば kubelet は起動します。',
  },
  'changed-not-restarted': {
    title: 'kubelet のファイルが変更されましたが、再起動されていません',
    why: 'kubelet は起動時に一度だけファイルを読み込みます。その後に書き込まれた内容は次の再起動またはリブートまで反映されず、その時点ですべてが一度に反映されます。',
    fix: '負荷の低い時間帯に kubelet を再起動する (systemctl restart kubelet) か、ファイルを元に戻してください。変更が launch template に属するものであれば、ノードを入れ替えてください。',
  },
  'ineffective-log-rotation': {
    title:
      'logrotate のファイルが何も回転しない、遅すぎる、または kubelet が回転するログを対象にしています',
    why: '設定に書かれていながら行われない回転は、ディスクが満杯になって初めて気付かれます。containerd では /var/lib/docker/containers の下に書き込むものはなく、/var/log/containers にあるのは logrotate が無視するシンボリックリンクで、/var/log/pods の下のログは kubelet が回転します。そこでは logrotate が働くことはないか、ログの行を失わせます。サイズの指定は logrotate が実行されたときにのみ有効で、rotate がなければ古いログは削除されます。',
    fix: '根拠に示すファイルからコンテナログのブロックを取り除き、代わりに containerLogMaxSize と containerLogMaxFiles を設定してください。timer または cron で logrotate を少なくとも毎日実行し、各ブロックに rotate を記述してください。',
  },
  'invalid-kubelet-configuration': {
    title: 'ディスク上の設定を kubelet が拒否します',
    why: 'kubelet は起動時にのみファイルを読み込み、不正であれば終了します。稼働中のノードにはその兆候が現れません。次の再起動またはリブートの後は NotReady のままとなり、その Pod は 5 分後に別の場所で補充され、API サーバーはその kubelet について 503 を返します。',
    fix: '何かが kubelet を再起動する前に、ファイル (またはそれを書き込む user data) を修正してください。',
  },
  'invalid-log-size': {
    title: 'コンテナログの回転が kubelet の拒否する値か、オフになっています',
    why: 'kubelet は、整数と解釈できない containerLogMaxSize (1.5Gi は整数ではなく、1536Mi は整数です)、または 2 未満の containerLogMaxFiles では起動しません。負のサイズでは起動しますが、ログはまったく回転されません。',
    fix: 'containerLogMaxSize を Mi または Gi の整数で、containerLogMaxFiles を 2 以上で記述してください。',
  },
  'log-retention-too-short': {
    title: 'コンテナログが数分で回転されて消えます',
    why: 'kubelet はコンテナごとに containerLogMaxSize のファイルを containerLogMaxFiles 個保持し、それより古いものを削除します。書き込みの速いコンテナは短い過去しか残しません: kubectl logs では問題の始まりを確認できなくなり、その時間だけ止まったログエージェントはログの行を完全に失います。',
    fix: 'ディスクが許す範囲で containerLogMaxSize (または containerLogMaxFiles) を上げるか、コンテナの書き込み量を減らしてください。ログをどれだけの期間残すべきかはポリシー logRetentionMinutes が示します。',
  },
  'log-rotation-drift': {
    title: 'ログ回転のファイルが同じグループのノードまたはポリシーと異なります',
    why: 'logrotate のファイルは、満杯になったノード上で手作業で編集され、そのまま残ります。Pod が共有するディスクをログがどれだけ占めるかは、サイズと個数で決まります: ログごとに rotate 個の古いファイルとログ自体があり、それぞれの大きさは、回転されるサイズに、logrotate が次に実行されるまでに書き込まれる量を加えたものになります (maxsize はその時点でのみ有効です)。ファイルは意味で比較します: 100M は 104857600 であり、ディレクティブの順序に意味はありませんが、2 つの時間またはサイズがあれば最後のものが有効です。',
    fix: '意図するファイルをノードの作成元 (イメージ、launch template の user data) に配置し、異なるノードを入れ替えてください。どのファイルを意図するかはポリシー logRotation が示し、なければグループの多数派を基準とします。',
  },
  'log-rotation-overshoot': {
    title: '回転されたコンテナログがディスクの残り容量を超える可能性があります',
    why: '稼働中の各コンテナは containerLogMaxSize のファイルを containerLogMaxFiles 個まで保持でき、再起動したコンテナは終了したインスタンスの分として同じ数をさらに保持できます。サイズはハードリミットでもありません: ログの確認は 10 秒ごとで、その間にも増え、少ない worker が多くのログを回転する場合はさらに長くかかります。退避までの余裕を超えてファイルが占める分は、DiskPressure につながります。',
    fix: 'containerLogMaxSize または containerLogMaxFiles を下げるか、ノードのディスクを大きくしてください。containerLogMaxWorkers (kubelet 1.30 以降) を増やすと、ログがそのサイズの近くに保たれます。',
  },
  'lost-on-the-way': {
    title: '指定した kubelet 設定が適用されていません',
    why: '設定は launch template、EC2NodeClass、またはファイルから drop-in とフラグを経て kubelet に届き、どの段階でも何も告げられずに失われる可能性があります: イメージは自身の取得元だけを読み込み、kubelet は綴りの誤ったフィールドと *.conf という名前でないファイルを無視し、後の drop-in またはフラグが優先されます。設定した人はそれが有効だと思っています。',
    fix: 'このイメージが読み込む場所 (Amazon Linux 2023 では NodeConfig、Bottlerocket では settings.kubernetes、EC2NodeClass の spec.kubelet) に設定を記述し、それを上書きするものを取り除いて、ノードを入れ替えてください。',
  },
  'memory-cgroup-leak': {
    title: 'カーネルで memory cgroup がリークしています',
    why: 'cgroup v1 でカーネルメモリの accounting を行うカーネル 3 と 4 は、削除された memory cgroup の ID を保持します。65535 個すべてが使われると、ノードをリブートするまでコンテナは起動しません ("cannot allocate memory"、"no space left on device"、"SLUB: Unable to allocate memory")。cgroup v2 では ID は戻りますが、削除された cgroup はページが計上されている限り残り、そのメモリはどの Pod のものでもありません。',
    fix: 'cgroup v2 を使う 5.4 以降のカーネルに移行してください。古いカーネルでは cgroup.memory=nokmem を指定して起動してください。ID が枯渇しつつあるノードはリブートしてください。cgroup v2 では、これほど多くの cgroup を作成、削除しているもの (クラッシュするコンテナ、probe、Job) を調べ、より新しいカーネルに移行してください。',
  },
  'missing-enforced-cgroup': {
    title: '予約が強制されていますが、その cgroup が指定されていません',
    why: 'enforceNodeAllocatable が system-reserved または kube-reserved を指定していて、それらのデーモンの cgroup が指定されていない場合、kubelet は起動を拒否します。',
    fix: '実在する cgroup を systemReservedCgroup または kubeReservedCgroup に指定するか、pods だけを強制してください。',
  },
  'missing-system-reserved': {
    title: 'システム用に予約されたメモリがありません',
    why: 'スケジューラーは allocatable メモリまでノードを埋めます。それとは別に kubelet、ランタイム、システムが使う分は、Pod に約束した分から取られます: Pod が requests の範囲内でも、ノードがメモリ圧迫になるか、カーネルが強制終了を行います。',
    fix: 'kubeReserved と systemReserved でメモリを予約してください: デーモンの最大使用量に退避しきい値を加えた量です。EKS イメージは kubeReserved で 255 Mi に加えて Pod ごとに 11 Mi を予約します。',
  },
  'oom-before-eviction': {
    title: 'kubelet が退避する前にカーネルがメモリ不足で強制終了します',
    why: 'memory.available のハードしきい値がなければ、メモリが不足してもただちに働くものがありません: ソフトしきい値はまず猶予時間を待ちます。カーネルは OOM score で対象を選び、個々のプロセスを猶予時間なしで強制終了し、そのコンテナは同じ満杯のノードで再び起動します。',
    fix: 'evictionHard memory.available を設定し、デーモン用のメモリを予約してください。',
  },
  'peer-drift': {
    title: 'GC、退避、ログまたは予約の設定が同じグループのノードと異なります',
    why: '1 つの nodegroup のノードは同じであるべきです。手作業で編集されたノード、または変更が漏れたノードは、ほかのノードとは別の時点で圧迫状態になります。宣言された内容またはポリシーの baseline が少数派を正しいとしない限り、多数派を基準とします。',
    fix: 'グループのノードの作成元 (launch template、NodeConfig、EC2NodeClass) に設定を記述し、異なるノードを入れ替えてください。',
  },
  'reservation-without-eviction': {
    title: 'メモリの予約に退避しきい値の分が含まれていません',
    why: '空けておくべきメモリは誰も使えません: デーモンに 1 GiB、退避が 500 MiB 未満であれば、予約には 1.5 GiB が必要です。allocatable から自動的に引かれるのはハードしきい値だけです。そのため予約がそれより少ないと、ソフトしきい値、またはデーモンの使用量のわずかな増加によって、ノードが提供する範囲内の Pod が退避されます。',
    fix: 'kubeReserved と systemReserved の合計を、デーモンのメモリに最も高い memory.available しきい値を加えた値に設定してください。',
  },
  'reserved-below-eks-formula': {
    title: '同じ Pod 数とコア数で EKS イメージより予約が少なくなっています',
    why: 'EKS イメージは、255 Mi に加えて Pod ごとに 11 Mi を、また 1 コア目の 6 %、2 コア目の 1 %、次の 2 コアの 0.5 %、残りのコアの 0.25 % を予約します: ノードが Pod で満たされたときに kubelet とランタイムが必要とする量に相当します。maxPods を引き上げたノードは、以前の数に応じた予約のままです。',
    fix: 'kubeReserved を計算式の値まで上げるか、maxPods を予約に見合う数まで下げてください。',
  },
  'reserved-below-real-usage': {
    title: 'デーモンが予約より多くのメモリを使っています',
    why: 'kubelet とランタイムが kubeReserved と systemReserved を超えて使う分は、Pod に約束した分から取られます。満杯のノードでは、すべての Pod が requests の範囲内でも memory.available がしきい値を下回ります。',
    fix: 'デーモンの使用量に退避しきい値の余裕を加えた値を上回るまで予約を上げるか、デーモンがこれほど多く使う理由を調べてください。',
  },
  'unread-node': {
    title: 'ノードを完全には取得できませんでした',
    titles: {
      'A kubelet that does not tell what the node itself has told':
        'ノード自身が示した内容を kubelet が示しません',
      'A node of a kind that does not tell all of itself': 'すべての情報を示さない種類のノードです',
      'A kubelet does not answer: nothing listens on port 10250':
        'kubelet が応答しません: ポート 10250 で待ち受けるものがありません',
    },
    why: '取得できなかったものは判定していません。それを必要としたルールはここではすべて不明であり、不明は合格ではありません。',
    fix: '理由を確認してください: 拒否されている場合は get nodes/proxy を、またはモード ssm と kubelet に必要なものを許可してください (不足しているものは highwater doctor が示します)。kubelet が応答しない場合は、ノード上でその journal を確認してください (journalctl -u kubelet)。',
  },
  'unsafe-enforced-reservation': {
    title: 'デーモンの予約がメモリまたはプロセス数のハードリミットになっています',
    why: 'system-reserved または kube-reserved を強制すると、予約がその cgroup の上限になります。それ以上を必要とするデーモンは、ノードにメモリが残っていてもカーネルに強制終了されるか、fork できなくなります。ランタイムまたは kubelet がその中にあると、ノード全体が機能しなくなります。',
    fix: 'pods だけを強制してください。kubelet 1.32 以降の system-reserved-compressible と kube-reserved-compressible は cpu だけを制限します。',
  },
  'unsupported-version': {
    title: 'kubelet が、ここで把握していないバージョンです',
    why: 'このノードに関する記述は、把握している最も近いバージョン (1.24 から 1.37) の規則に従います: しきい値、既定値、順序が異なる可能性があります。それより古い kubelet は、どこからも修正が提供されません。コントロールプレーンより新しい kubelet、または 3 minor を超えて古い kubelet (コントロールプレーン 1.28 より前では 2) も、誰もテストしていません。リリースから 26 か月後の延長サポートの終了時に、EKS はコントロールプレーンを自動でアップグレードし、ノードはそのまま残します: 差は広がります。',
    fix: '古い kubelet はノードごとアップグレードし、新しい kubelet の場合は highwater をアップグレードしてください。先にコントロールプレーンを、次にノードをアップグレードしてください。',
  },
  'version-skew-drift': {
    title: '同じグループのノードで AMI リリースまたは kubelet の minor バージョンが異なります',
    why: '途中で止まった rolling update は、2 種類のノードを残します。リリースと minor によって既定値が異なるため、同じ Pod でもノードによって別のしきい値の影響を受けます。Karpenter はノードを 1 つずつ入れ替えるため、Karpenter では多少の差は正常です。',
    fix: 'nodegroup の更新を完了してください (aws eks update-nodegroup-version)。更新を止めている pod disruption budget を確認してください。',
  },
}
