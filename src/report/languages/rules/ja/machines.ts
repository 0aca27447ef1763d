/** Japanese: rules on what nodes, instances and volumes leave behind. */
import type { RuleTexts } from '#report/languages/language.ts'

export const machines: RuleTexts = {
  'instance-without-node': {
    title: 'クラスターのインスタンスがノードになっていません',
    why: 'クラスターのタグを持つインスタンスは、そのクラスターのノードであるはずです。一度も参加しなかったもの、または稼働中に Node が削除されたものは、費用がかかるのに Pod を動かしません。誰の目にも触れないため、パッチも適用されません。',
    fix: '参加しなかった理由 (bootstrap、access entry、ネットワーク) をインスタンスのコンソール出力と kubelet のログで確認するか、インスタンスを終了してください。別の目的で起動したものであれば、クラスターのタグを付けるべきではありません。',
  },
  'leftover-lease': {
    title: 'なくなったノードの Lease が残っています',
    why: 'kubelet は一度だけ自身のノードを Lease の所有者にし、ノードがなくなると Lease もなくなります。所有者のない Lease はノードがなくなった後も残ります: 回収するものがありません。所有者がまだあるのに長く残っているものは、処理されていません: ガベージコレクターの処理がそこまで及んでいないか、削除が許されていません。',
    fix: 'ノードがなくなった Lease を削除してください。新しいものが発生し続ける場合は、ほかに kube-node-lease に書き込むものを確認してください。所有者がある場合は、ガベージコレクターが動作しない理由を確認してください (応答しない API グループ、拒否する webhook)。',
  },
  'leftover-taint': {
    title: 'Ready のノードに、すでに終わった問題の taint が残っています',
    why: 'Ready でない、クラウドに加わったばかりの、停止した、圧迫状態の、cordon された、out of service の、またはまもなく削除されるノードの taint は、その状態が終わると取り除かれます: コントローラーによって、out-of-service の場合は設定した人によって。ノードを削除すると告げたオートスケーラーは、削除を行うか、taint を取り下げます。残った taint は、正常なノードから Pod を遠ざけるか、繰り返し追い出します。',
    fix: 'ノードが正常であることを確認し、その後 taint を取り除いてください。',
  },
  'node-not-ready-long': {
    title: '長く Ready でないノードを誰も削除していません',
    why: 'cloud の node lifecycle controller が Node を削除するのは、インスタンスがなくなった場合だけです。インスタンスがまだ存在するもの、または元からないものは残ります: 費用がかかり、Lease とボリュームを保持し、その Pod の削除は止まったままになります。',
    fix: 'kubelet が報告しない理由を確認するか (node auto repair であれば入れ替えます)、Node とそのインスタンスを削除してください。',
  },
  'node-without-instance': {
    title: 'インスタンスがなくなったノードが残っています',
    why: 'ノードが Ready でなく、インスタンスがもう存在しない場合、cloud の node lifecycle controller が数秒以内に Node を削除します。残った Node は Pod、Lease、ボリュームが消えるのを妨げ、StatefulSet はそれを待ちます。finalizer が保持しているか、provider ID が本来とは別のインスタンスを示しています。',
    fix: 'Node を削除してください。それでも削除が止まる場合は、finalizer を確認してください (Karpenter のもの: Karpenter は存在するか)。',
  },
  'released-volume': {
    title: 'クレームのなくなったボリュームが残り、費用がかかっています',
    why: 'クレームがなくなると、ポリシーが Retain の PersistentVolume は Released となり、そのまま残ります: 新しいクレームには割り当てられず、誰も削除せず、誰かがディスクも削除するまでディスクの費用がかかります。',
    fix: 'データがまだ必要か確認してください。必要であれば spec.claimRef を消去し、クレームがボリュームを使えるようにしてください。不要であれば PersistentVolume を削除し、その後、背後のディスクを削除してください。',
  },
  'retained-ephemeral-volume': {
    title: '一時ボリュームが Pod より長く残ります',
    why: 'generic ephemeral volume のクレームは Pod とともに消えます。ボリュームの reclaim policy は StorageClass から、または後から変更した人から来ます。それが Retain の場合、ボリュームとディスクは残ります。クラスが Retain であれば、Pod が作られて消えるたびに 1 つずつ残ります。',
    fix: '一時ボリュームに、reclaimPolicy が Delete の StorageClass を指定してください。ボリュームだけが Retain の場合は、データが必要でなければ persistentVolumeReclaimPolicy を元に戻してください。',
  },
  'unattached-disk': {
    title: 'クラスターのディスクが接続されておらず、どのクレームのものでもありません',
    why: 'クラスターのタグを持つ EBS ボリュームは、そのクラスターのために作られたものです。参照する PersistentVolume がない場合、オブジェクトが強制削除されたとき、ポリシーが Retain だったとき、またはノードによって残されたものです。再び接続する人はいませんが、費用はかかります。PersistentVolume が Available のものも同じです: どのクレームのものでもありません。',
    fix: 'どのクレームのものだったかをタグで確認してください。データが必要になる可能性があればスナップショットを作成し、その後、参照する PersistentVolume があれば先に、続けてディスクを削除してください。',
  },
  'unrenewed-lease': {
    title: 'ノードが長く Lease を更新していません',
    why: 'kubelet は 10 秒ごとに Lease を更新します。Lease がこれほど古いノードには、API サーバーに到達できる kubelet がありません: その Pod は数えられていますが、動作しているかどうかを示すものはありません。',
    fix: 'ノードを復旧するか、Node オブジェクトを削除してください: Lease と Pod もともに消えます。',
  },
  'volume-held-in-deletion': {
    title: 'ボリュームまたはクレームの削除が止まっています',
    why: 'クレームは、終了したものも含めて使う Pod がなくなると消え、ボリュームはバインドされなくなると消えます。それまでは finalizer がそれぞれを保護します。データは安全に見えますが、そうではありません: 最後の Pod が消えた瞬間に失われます。',
    fix: 'データが必要であれば、今すぐコピーしてください: 削除は取り消せません。不要であれば、終了したものも含めてクレームを使う Pod を削除してください。その他の finalizer については、それを取り除くべきドライバーを確認してください。',
  },
  'volume-not-deleted': {
    title: '解放されたボリュームが削除されるべきなのに残っています',
    why: 'ポリシーが Delete のボリュームはクレームとともに消えます: ドライバーがディスクとオブジェクトを数分以内に削除します。Released または Failed のまま残るものは、ドライバーがなくなったか、ディスクを削除する権限がないか、ディスクが接続されているかスナップショットがあるか、または削除できるものがそもそもありません。',
    fix: 'ボリュームのイベントとドライバーの provisioner のログ (EBS の場合: ebs-csi-controller) を確認し、そこに示された問題を修正してください: ロール、接続、ドライバー自体。',
  },
}
