/** A terminal as an SVG: each command, then what it printed, line by line. */
const look = {
  columns: 112,
  lineHeight: 18,
  characterWidth: 7.8,
  margin: 16,
  lineMs: 60,
  pauseMs: 900,
}

export interface TypedCommand {
  command: string
  output: string
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** As a terminal breaks a line that is too long, at a blank where there is one. */
function wrapped(line: string): string[] {
  if (line.length <= look.columns) return [line]
  const blank = line.lastIndexOf(' ', look.columns)
  const end = blank > look.columns / 2 ? blank : look.columns
  const indent = /^ */.exec(line)![0]
  return [line.slice(0, end), ...wrapped(`${indent}  ${line.slice(end).trimStart()}`)]
}

/** Lines appear one after the other. With reduced motion, and in a still picture, all are there. */
export function terminalSvg(commands: readonly TypedCommand[]): string {
  let delayMs = 0
  const lines = commands.flatMap(({ command, output }) => {
    delayMs += look.pauseMs
    const rows = [
      { text: `$ ${command}`, isCommand: true },
      ...output
        .trimEnd()
        .split('\n')
        .flatMap(wrapped)
        .map(text => ({ text, isCommand: false })),
      { text: '', isCommand: false },
    ]
    return rows.map(row => {
      delayMs += look.lineMs
      return { ...row, delayMs }
    })
  })
  const { margin, lineHeight } = look
  const width = Math.round(2 * margin + look.columns * look.characterWidth)
  const height = 2 * margin + lines.length * lineHeight
  const texts = lines.map(
    ({ text, isCommand, delayMs: at }, index) =>
      `<text x="${margin}" y="${margin + (index + 1) * lineHeight - 5}" class="${isCommand ? 'command' : 'output'}" style="animation-delay:${at}ms" xml:space="preserve">${escaped(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(commands.map(({ command }) => command).join(', '))}">
<style>rect{fill:#11151a}text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e7ebef}.command{fill:#7fd0a6;font-weight:700}@media(prefers-reduced-motion:no-preference){text{animation:line 1ms backwards}@keyframes line{from{opacity:0}}}</style>
<rect width="100%" height="100%" rx="6"/>
${texts.join('\n')}
</svg>
`
}
