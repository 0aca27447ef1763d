/** The shell commands that documents show: fenced blocks, and `highwater …` within a sentence. */
import { readFileSync } from 'node:fs'

export interface ShownCommand {
  file: string
  /** Null: within a sentence. */
  block: number | null
  text: string
  words: string[]
}

export const shellBlocksOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^ *```sh\n(.*?)^ *```/gms)].map(
    ([, block = '']) => block,
  )

export function shownCommands(file: string): ShownCommand[] {
  const fenced = shellBlocksOf(file).flatMap((text, block) =>
    linesOf(text).map(line => [block, line] as const),
  )
  const spans = [...readFileSync(file, 'utf8').matchAll(/`((?:npx --no -- )?highwater [^`]*)`/g)]
  const inline = spans.flatMap(([, text = '']) =>
    /…|:$/.test(text) ? [] : [[null, text] as const],
  )
  return [...fenced, ...inline].flatMap(([block, line]) =>
    line.split(/ && | \| /).map(text => ({ file, block, text, words: wordsOf(text) })),
  )
}

/** Without comments and line breaks. */
const linesOf = (block: string): string[] =>
  block
    .replace(/\\\n */g, '')
    .split('\n')
    .map(line => line.replace(/ +# .*$/, '').trim())
    .filter(line => line !== '')

/** Without quotes and redirections. */
const wordsOf = (text: string): string[] =>
  [...text.replace(/ >+ \S+$/, '').matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  )
