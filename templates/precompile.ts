/**
 * Compiles report.hbs, index.hbs, email.hbs, email.txt.hbs, partials/*.hbs, the style sheets and the page's
 * script to one module of functions (src/report/compiled-templates.js), so that rendering needs no
 * eval. Fails for faults that only a reader would see: an unknown variable, partial or helper,
 * unescaped output, a syntax error.
 *
 *   node templates/precompile.ts [--from DIRECTORY] [--to FILE]
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Handlebars from 'handlebars'
import { englishCatalogue as en } from '#report/languages/messages.ts'

const helpers = ['each', 'if', 'unless', 'with']
const knownHelpers = Object.fromEntries(
  ['helperMissing', 'blockHelperMissing', 'log', 'lookup', ...helpers].map(name => [
    name,
    helpers.includes(name),
  ]),
)

/** The pages. The text of the mail is not HTML and not escaped, so it cannot use HTML partials. */
const pages = ['report', 'index', 'email', 'email.txt']
const isText = (name: string) => name.endsWith('.txt')

interface Template {
  name: string
  path: string
  program: hbs.AST.Program
}

/** Names the template and the line, if known. */
class TemplateError extends Error {}

function readTemplates(directory: string): Template[] {
  const partials = join(directory, 'partials')
  const files = existsSync(partials)
    ? readdirSync(partials).filter(file => file.endsWith('.hbs'))
    : []
  return [
    ...pages.map(name => ({ name, path: join(directory, `${name}.hbs`) })),
    ...files
      .toSorted()
      .map(file => ({ name: file.slice(0, -'.hbs'.length), path: join(partials, file) })),
  ].map(({ name, path }) => {
    const shownPath = relative(directory, path)
    try {
      return {
        name,
        path: shownPath,
        program: Handlebars.parseWithoutProcessing(readFileSync(path, 'utf8')),
      }
    } catch (error) {
      throw new TemplateError(`${shownPath}: ${error instanceof Error ? error.message : error}`)
    }
  })
}

/** Faults that Handlebars would report only while rendering, or never. */
class Check extends Handlebars.Visitor {
  readonly mistakes: string[] = []
  readonly path: string
  readonly partials: Set<string>
  readonly variables: Set<string>

  constructor(path: string, partials: Set<string>, variables: Set<string>) {
    super()
    this.path = path
    this.partials = partials
    this.variables = variables
  }

  report(node: hbs.AST.Node, mistake: string): void {
    this.mistakes.push(`${this.path}:${node.loc.start.line}: ${mistake}`)
  }

  override MustacheStatement(node: hbs.AST.MustacheStatement): void {
    if (!node.escaped)
      this.report(node, 'unescaped output ({{{ }}} or {{& }}): everything on the page is escaped')
    if (node.params.length > 0 || node.hash !== undefined)
      this.report(node, `unknown helper "${nameOf(node.path)}"`)
    super.MustacheStatement(node)
  }

  override ContentStatement(node: hbs.AST.ContentStatement): void {
    if (this.path === script) return
    const [foreign] =
      /<script\b|<link\b(?! rel="icon" href="data:)|<iframe\b|\bsrc\s*=|@import\b|\burl\((?!#)/i.exec(
        node.value,
      ) ?? []
    if (foreign !== undefined)
      this.report(
        node,
        `"${foreign}" has no place here: nothing runs in a reader's page or mail, and nothing is fetched`,
      )
  }

  override BlockStatement(node: hbs.AST.BlockStatement): void {
    if (!helpers.includes(nameOf(node.path)))
      this.report(node, `unknown helper "${nameOf(node.path)}": blocks are ${helpers.join(', ')}`)
    super.BlockStatement(node)
  }

  override PathExpression(node: hbs.AST.PathExpression): void {
    if (node.data) {
      if (node.original.startsWith('@root.') && !isMessage(node.parts.map(String)))
        this.report(
          node,
          `unknown message "${node.original}": the catalogue of src/report/languages has no such text`,
        )
      return
    }
    if (helpers.includes(node.original)) return
    for (const part of node.parts)
      if (!this.variables.has(String(part)))
        this.report(node, `unknown variable "${node.original}": no view has it`)
  }

  override SubExpression(node: hbs.AST.SubExpression): void {
    this.report(node, `unknown helper "${nameOf(node.path)}": templates compute nothing`)
  }

  override PartialStatement(node: hbs.AST.PartialStatement): void {
    if (!this.partials.has(nameOf(node.name)))
      this.report(node, `unknown partial "${nameOf(node.name)}"`)
    this.acceptArray(node.params) // and not its name, which is no variable
  }

  override PartialBlockStatement(node: hbs.AST.PartialBlockStatement): void {
    this.report(node, 'partial blocks are not used here')
  }
}

const nameOf = (path: hbs.AST.Expression | hbs.AST.PathExpression) =>
  'original' in path ? String(path.original) : ''

/** Whether `root`, `words` and so on name a text of the catalogue, or a language tag. */
function isMessage([, first, ...path]: string[]): boolean {
  const found = path.reduce<unknown>(
    (words, key) =>
      typeof words === 'object' && words !== null ? Reflect.get(words, key) : undefined,
    en,
  )
  return first === 'words' ? typeof found === 'string' : path.length === 0 && first === 'sourceTag'
}

/**
 * Every name of a property in the code of the views, to find misspelt variables. test/report renders
 * the pages to check that each view has them.
 */
function viewVariables(): Set<string> {
  const sources = globSync('src/report/{page,mail,parts}/*.ts', { cwd: join(here, '..') })
  return new Set(
    sources.flatMap(source => {
      const code = readFileSync(join(here, '..', source), 'utf8').replace(
        /\/\*[\s\S]*?\*\/|\/\/.*$/gm,
        '',
      )
      return [...code.matchAll(/(?<=[{;(,]\s*|^\s+)(\w+)(?=\??:\s|,| \})/gm)].map(
        ([, name]) => name!,
      )
    }),
  )
}

/**
 * The page's only script: filter, sort and search. The page's policy and this check allow it no
 * connections.
 */
const script = 'script'

function checkedScript(source: string): string {
  const [forbidden] =
    /<\/script|<!--|\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|\bimport\b|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\bFunction\(/.exec(
      source,
    ) ?? []
  if (forbidden !== undefined)
    throw new TemplateError(
      `report.mjs: "${forbidden}" has no place in a page without connections that writes only text`,
    )
  return source
}

const digestOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`

/** A partial with only this text. */
function literal(name: string, text: string): Template {
  if (text.includes('{{'))
    throw new TemplateError(`${name}: two curly braces in a row would be an expression`)
  return { name, path: name, program: Handlebars.parseWithoutProcessing(text) }
}

/** Without what the runtime has anyway, and with functions for what is on every line. */
const shorter = (code: string): string =>
  code
    .replace(
      /container\.lookupProperty \|\| function\(parent, propertyName\) \{[^}]*\}[^}]*\}/g,
      'container.lookupProperty',
    )
    .replace(/\{"start":\{"line":(\d+),"column":(\d+)\},"end":\{[^}]*\}\}/g, 'at($1,$2)')
    .replaceAll('lookupProperty(lookupProperty(data,"root"),"words")', 'words(data)')
    .replace(
      /\{"name":("[^"]+"),"data":data,"helpers":helpers,"partials":partials,"decorators":container\.decorators\}/g,
      'part($1,data,helpers,partials)',
    )
    .replace(
      /\{"name":("\w+"),"hash":\{\},"fn":(container\.\w+(?:\([^()]*\))?),"inverse":(container\.\w+(?:\([^()]*\))?),"data":data,"loc":(at\(\d+,\d+\))\}/g,
      'block($1,$2,$3,data,$4)',
    )

function precompile(directory: string): string {
  const css = readFileSync(join(directory, 'report.css'), 'utf8')
  const code = checkedScript(readFileSync(join(directory, 'report.mjs'), 'utf8'))
  const templates = [
    ...readTemplates(directory),
    literal('style', css),
    literal('email-style', readFileSync(join(directory, 'email.css'), 'utf8').trim()),
    literal(script, `<script>${code}</script>`),
    // The page's policy allows only this style sheet and this script, by digest.
    literal('style-digest', digestOf(css)),
    literal('script-digest', digestOf(code)),
  ]
  const partials = templates.map(({ name }) => name).filter(name => !pages.includes(name))
  const variables = viewVariables()
  const mistakes = templates.flatMap(({ name, path, program }) => {
    const check = new Check(path, new Set(isText(name) ? [] : partials), variables)
    check.accept(program)
    return check.mistakes
  })
  if (mistakes.length > 0) throw new TemplateError(mistakes.join('\n'))
  const specifications = templates.map(({ name, path, program }) => {
    try {
      const options = { strict: true, knownHelpersOnly: true, knownHelpers, noEscape: isText(name) }
      return `  ${JSON.stringify(name)}: ${shorter(String(Handlebars.precompile(program, options)))},`
    } catch (error) {
      throw new TemplateError(`${path}: ${error instanceof Error ? error.message : error}`)
    }
  })
  return `// Written by templates/precompile.ts.
import Handlebars from 'handlebars/runtime.js'

const at = (line, column) => ({ start: { line, column }, end: { line, column } })
const words = data => data.root.words
const part = (name, data, helpers, partials) => ({ name, data, helpers, partials })
const block = (name, fn, inverse, data, loc) => ({ name, hash: {}, fn, inverse, data, loc })
const specifications = {
${specifications.join('\n')}
}

const runtime = Handlebars.create()
const templates = Object.fromEntries(Object.entries(specifications).map(([name, specification]) => [name, runtime.template(specification)]))
runtime.registerPartial(templates)

export const renderPage = view => templates.report(view)
export const renderIndex = view => templates.index(view)
export const renderMailHtml = view => templates.email(view)
export const renderMailText = view => templates['email.txt'](view)
`
}

const here = dirname(fileURLToPath(import.meta.url))
const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
const target = values.to ?? join(here, '../src/report/compiled-templates.js')
try {
  const module = precompile(values.from ?? here)
  mkdirSync(dirname(target), { recursive: true })
  // Replaced atomically: a test or a build may be reading it.
  const unfinished = `${target}.${process.pid}`
  writeFileSync(unfinished, module)
  renameSync(unfinished, target)
} catch (error) {
  if (!(error instanceof TemplateError)) throw error
  process.stderr.write(`The templates do not compile:\n${error.message}\n`)
  process.exitCode = 1
}
