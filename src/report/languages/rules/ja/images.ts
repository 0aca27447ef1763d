/** Japanese: rules on image GC, pulls and dead containers. */
import type { RuleTexts } from '#report/languages/language.ts'

export const images: RuleTexts = {
  'alert-before-image-gc': {
    title: 'image GC が始まる前にディスクのアラートが鳴ります',
    why: 'kubelet がまだ片付けを始めていないディスクのために、アラートが担当者を呼び出します。これは毎回ノイズであり、何も解放しない GC という本当の問題も同じように見えてしまいます。',
    fix: 'imageGCHighThresholdPercent をアラートのパーセント以下に設定するか、アラートの値を上げてください (アラートの位置はポリシー alertPercent が示します)。',
  },
  'container-gc-flags-off-default': {
    title: 'コンテナ GC が既定値でないフラグで動作しています',
    why: 'この 3 つはフラグとしてのみ存在します。設定ファイルにも configz にも現れないため、終了したコンテナとそのログがなぜ残るのか、またはなぜ誰も読まないうちに消えるのかが分かりません。これらは非推奨です。',
    fix: 'kubelet のコマンドライン (user data、systemd drop-in) からフラグを取り除き、ディスクの管理は退避しきい値に任せてください。',
  },
  'dead-container-pile': {
    title: '終了したコンテナがたまっています',
    why: 'kubelet は、再起動したコンテナごとに終了したコンテナを 1 つログのために保持し、まだ存在する Pod のものはすべて保持します。それぞれが書き込みレイヤーとログをディスクに残し、イメージを使用中のままにするため、image GC はそのイメージを削除できません。',
    fix: '終了した Pod と Job を削除し (ttlSecondsAfterFinished)、クラッシュループを解消し、コンテナ GC のフラグを確認してください。いくつから多いと見なすかはポリシー deadContainers が示します。',
  },
  'dead-registry': {
    title: 'Pod が廃止されたレジストリのイメージを指定しています',
    why: 'このような Pod は、イメージがすでにノード上にある場合にのみ動作します。image GC または退避がイメージを削除するか、Pod が移動すると、イメージを再び取得することはできません。',
    fix: 'Pod に後継のレジストリを指定してください: docker.pkg.github.com の代わりに ghcr.io、k8s.gcr.io の代わりに registry.k8s.io。またはイメージを自社のレジストリにコピーしてください。',
  },
  'eviction-before-image-gc': {
    title: 'image GC が実行される前に Pod が退避されます',
    titles: {
      'Image garbage collection is switched off, so only eviction deletes images':
        'image GC がオフのため、イメージは退避時にのみ削除されます',
    },
    why: 'image GC は 5 分ごとに、eviction manager は 10 秒ごとにディスクを確認します。退避しきい値に先に到達する場合、または GC 1 周期分の増加で両方に到達するほど近い場合、使われていないイメージを削除できたにもかかわらず、ノードは DiskPressure になり Pod を退避します。',
    fix: '(101 - high) % のディスク容量が退避しきい値を十分に上回るまで imageGCHighThresholdPercent を下げ、imageGCLowThresholdPercent も合わせて下げてください。EKS Auto Mode ではどちらも変更できず、時間を稼げるのはより大きなディスク (NodeClass ephemeralStorage) だけです。',
  },
  'image-age-gc-churn': {
    title: 'イメージが経過時間により早く削除されすぎ、繰り返し取得されます',
    why: 'imageMaximumGCAge は、ディスクがどれだけ空いていても、その時間使われなかったイメージをすべて削除します。一度も使われていないイメージは、取得した直後であっても次の回で削除されます。24 時間未満では、日次の Job のイメージと事前に取得したイメージは残りません。',
    fix: 'imageMaximumGCAge を数日または 0s に設定し、ディスクの管理はしきい値に任せてください。',
  },
  'image-gc-dead': {
    title: 'image GC が毎回失敗しています: イメージのファイルシステムが見えません',
    why: 'ランタイムが、kubelet の計測できないイメージのマウントポイントを示しています。その容量は 0 となり、容量のために何かを削除する前に毎回エラーで終わります。imagefs のしきい値に見える範囲も image GC と同じです。kubelet がガベージコレクションについてイベントで繰り返し告げるその他のエラーは、kubelet の文言のままここに示します。起動から 10 分以内に告げるものには意味がありません。',
    fix: 'crictl imagefsinfo でランタイムが示すマウントポイントを確認し、kubelet が見る場所に存在するものにしてください (containerd: root)。先にランタイムを、次に kubelet を再起動してください。その他のエラー: 発生元のランタイムを確認してください。',
  },
  'image-gc-disabled': {
    title: 'image GC がオフになっています',
    why: 'imageGCHighThresholdPercent 100 はループを止め、イメージの最大経過時間の設定もないため、動作し続けることはありません。使われていないイメージは、ノードがすでに DiskPressure になって退避がそれらをすべて削除するまで残ります。',
    fix: 'imageGCHighThresholdPercent を 100 未満かつ退避が始まる位置より下に設定し、imageGCLowThresholdPercent も合わせて設定してください。',
  },
  'image-gc-due': {
    title: 'image GC がまもなくイメージを削除します',
    titles: {
      'Image garbage collection is due, and no image may go':
        'image GC を実行すべき状態ですが、削除できるイメージがありません',
    },
    why: 'イメージのファイルシステムが上限しきい値を上回っているため、次の回で使われていないイメージが古い順に削除されます。レジストリに到達できない場合、削除されたものは戻りません。',
    fix: 'イメージを再び取得できるのであれば、対処は不要です。そうでない場合は固定 (pin) するか、空きを作ってください: イメージを減らす、ディスクを大きくする、またはしきい値を変える。',
  },
  'image-gc-never-first': {
    title: 'image GC の対象外のものが増えています: 退避が先に起きます',
    why: 'image GC が見るのはイメージのファイルシステムのバイト数だけで、ほかは見ません。nodefs が独立したファイルシステムである場合、または inode がバイト数より先に枯渇する場合、途中で GC は始まりません: 最初に働くのは eviction manager です。',
    fix: 'そこで何が増えているのかを調べ (コンテナログ、emptyDir ボリューム、ホストのファイル。inode の場合は多数の小さなファイル)、しきい値に到達する前に空きを作るか、ディスクを大きくしてください。image GC のパーセントを変えても効果はありません。どの使用率から対象とするかはポリシー alertPercent が示します。',
  },
  'narrow-gc-band': {
    title: 'image GC の 2 つのしきい値の間隔が狭すぎます',
    why: 'GC は上限しきい値で始まり、下限しきい値で終わります。間隔が既定値の 5 % より狭いと、解放される量が少なすぎてディスクがすぐに再び満杯になります: 数分ごとに GC が行われ、イメージが削除されては再び取得されます。',
    fix: 'imageGCLowThresholdPercent を、たとえば imageGCHighThresholdPercent より 10 低い値に下げてください。下限しきい値が上限しきい値より低くない場合、次の起動時に拒否されます。',
  },
  'pull-failing-now': {
    title: 'コンテナが取得できないイメージを待っています',
    why: 'Pod は動作しません。kubelet は 10 秒後に再試行し、その後は毎回 2 倍の時間を空け、最大 5 分まで延ばします。試行はそのたびにレジストリの制限に数えられます。すでになくなった Pod については、直近 1 時間のイベントから分かります。',
    fix: 'メッセージを確認してください: 誤った名前、認証情報の不足、到達できないレジストリ、または取得を制限するレジストリ。GC が削除したイメージは、ノードが到達できるレジストリになければなりません。',
  },
  'rate-limited-registry': {
    title: 'イメージを認証なしで Docker Hub から取得しています',
    why: 'Docker Hub は、認証情報がない場合は IPv4 アドレスまたは IPv6 /64 ごとに 6 時間で 100 回、個人アカウントには 200 回の取得を許可し、有料アカウントには制限を設けません。1 つの NAT gateway の背後にあるすべてのノードは 1 つのアドレスを共有します: image GC がイメージを削除するか、ノードが入れ替えられると、まもなく再び必要になる取得で 429 toomanyrequests となります。',
    fix: 'キャッシュ (docker-hub 用の ECR pull-through cache ルール) 経由、コピー (public.ecr.aws/docker/library)、または有料アカウントの imagePullSecrets で取得してください。egress アドレスを増やしても、限界が先に延びるだけです。',
  },
  'required-image-at-risk': {
    title: '欠かせないイメージが削除される可能性があります',
    why: 'image GC と退避は、次に何のために必要かにかかわらず、その時点でどのコンテナも使っていないものを削除します。kube-system と DaemonSet のイメージ、およびポリシー requiredImages のイメージは、このノードで再び必要になります。レジストリが応答しなければイメージは戻らず、ノードまたはそれに依存するものが起動しません。',
    fix: 'イメージを固定 (pin) する (ctr -n k8s.io images label NAME io.cri-containerd.pinned=pinned)、DaemonSet で使用中の状態を保つ、またはノードが到達できるミラーレジストリから取得できるようにしてください。ノードがどれに到達できるかはポリシー reachableRegistries が示します。',
  },
  'serialized-pulls': {
    title: 'kubelet がイメージを 1 つずつ取得しています',
    why: '1 つの大きなイメージ、または応答しない 1 つのレジストリが、ノードのほかの取得をすべて待たせます: 多くを削除した GC の後、隣のノードの drain の後、そしてノード自身に必要な Pod についても同様です。',
    fix: 'EKS イメージと同じく serializeImagePulls: false を設定し、ディスクの負荷を抑える必要がある場合は maxParallelImagePulls (kubelet 1.27 以降) を設定してください。',
  },
  'stranded-disk': {
    title: '退避しきい値のため、大きなディスクの多くが使えません',
    why: '20 GiB に適したパーセントは、数 TB のディスクでは数百 GiB を空けたままにします。その分にも費用がかかりますが、Pod は使えません: その前にノードが退避を行います。',
    fix: 'そのファイルシステムのしきい値を下げる (すべてのサイズに共通のパーセント、またはすべてのディスクが同じであれば絶対値) か、より小さいディスクを使ってください。どこから対象とするかはポリシー strandedPercent と strandedGiB が示します。',
  },
  'truncated-image-list': {
    title: 'ノードのイメージ一覧が途中で切れています',
    why: 'Node オブジェクトには、大きい順に nodeStatusMaxImages 個までのイメージしか載りません。スケジューラーは、イメージを持つノードを探すときに残りのイメージを把握できず、image GC が何を削除するかも一覧からは一部しか分かりません。',
    fix: 'nodeStatusMaxImages をより大きくするか、すべてを載せる -1 に設定してください。大規模なクラスターでは Node オブジェクトのサイズに注意してください。',
  },
  'unpinned-sandbox-image': {
    title: 'sandbox イメージが固定 (pin) されておらず、image GC が削除します',
    why: 'pause イメージを使うコンテナはないため、image GC は未使用と見なします。Kubernetes 1.29 以降の kubelet が対象外とするのは、ランタイムが固定 (pin) している場合だけです。削除されると、再び取得されるまでノードで Pod は起動せず、containerd が持たない認証情報をレジストリが求める場合、その取得は失敗します。',
    fix: 'より新しい AMI (AL2023 は v20241115 以降、Bottlerocket) を使い、ノードを入れ替えてください。残す必要のあるノードでは: イメージを import または取得し、ラベル io.cri-containerd.pinned=pinned を設定してください。',
  },
  'unreachable-gc-low-threshold': {
    title: 'image GC が必要な容量を解放できません',
    why: 'ディスクは上限しきい値を上回っていますが、削除できるイメージの合計は必要な解放量に足りません。GC は毎回できる範囲で削除して失敗し、繰り返されます: ディスクを占めているのは、使われていないイメージ以外のものです。',
    fix: 'ディスクにあるほかのものを調べてください: 使用中のイメージ、コンテナログと書き込みレイヤー、emptyDir ボリューム、ホストのファイル。そこに空きを作るか、ディスクを大きくしてください。しきい値を変えても解決しません。',
  },
}
