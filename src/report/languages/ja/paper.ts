/** Japanese, as in `en/paper.ts`. */
import type { Catalogue } from '#report/languages/en.ts'
import { formatCount as n } from '#report/numbers.ts'

const of = (shown: number, all: string) =>
  `印刷版: ${all}のうち ${n(shown)} 件のみ。残りはページにあります。`

const paper: Catalogue['paper'] = {
  clusters: (shown, all) => of(shown, `クラスター ${n(all)} 件`),
  waived: (shown, all) => of(shown, `免除された検出事項 ${n(all)} 件`),
  unknowns: (shown, all) => of(shown, `判定不能 ${n(all)} 件`),
  notAudited: (shown, all) => of(shown, `未監査 ${n(all)} 件`),
  findings: (tables, findings) =>
    `印刷版: ${[
      ...(tables > 0 ? [`折りたたまれた ${n(tables)} 個の表はページで開けます。`] : []),
      ...(findings === null
        ? []
        : ['根拠、名前、コマンド、新しいノード用の設定はページにあります。']),
      ...(findings !== null && findings.short > 0
        ? [`最初の ${findings.whole} 件より後の ${n(findings.short)} 件は要約です。`]
        : []),
      ...(findings !== null && findings.left > 0
        ? [`残り ${n(findings.left)} 行はページのみにあります。`]
        : []),
    ].join('')}`,
  thresholds: folded =>
    `印刷版: 開いている表のみ印刷されます。残り ${n(folded)} 個の表はページで開けます。`,
  nodes: (groups, left) =>
    `印刷版: 最初の ${n(groups)} グループについて、退避に最も近いノードのみ。${n(left)} ノードはページのみにあります。`,
  rules: count => `印刷版: ${n(count)} ルールの説明はページにあります。`,
}

export const ofPaper = { paper }
