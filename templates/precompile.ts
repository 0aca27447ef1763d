/**
 * Turns report.hbs, partials/*.hbs and report.css into one module of plain functions (src/report/compiled-templates.js), so that nothing is
 * compiled when a report is made: where eval is forbidden, it still renders. Fails on what would only show in a reader's browser: an unknown
 * partial or helper, unescaped output, a syntax error.
 *
 *   node templates/precompile.ts [--from DIRECTORY] [--to FILE]
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import Handlebars from 'handlebars'

const helpers = ['each', 'if', 'unless', 'with']
const knownHelpers = Object.fromEntries(
  ['helperMissing', 'blockHelperMissing', 'log', 'lookup', ...helpers].map(name => [name, helpers.includes(name)]),
)

interface Template {
  name: string
  path: string
  program: hbs.AST.Program
}

/** Names the template and, where there is one, the line. */
class TemplateError extends Error {}

function readTemplates(directory: string): Template[] {
  const partials = join(directory, 'partials')
  const files = existsSync(partials) ? readdirSync(partials).filter(file => file.endsWith('.hbs')) : []
  return [
    { name: 'report', path: join(directory, 'report.hbs') },
    ...files.toSorted().map(file => ({ name: file.slice(0, -'.hbs'.length), path: join(partials, file) })),
  ].map(({ name, path }) => {
    const shownPath = relative(directory, path)
    try {
      return { name, path: shownPath, program: Handlebars.parseWithoutProcessing(readFileSync(path, 'utf8')) }
    } catch (error) {
      throw new TemplateError(`${shownPath}: ${error instanceof Error ? error.message : error}`)
    }
  })
}

/** Handlebars would only tell when the page is rendered, or never. */
class Check extends Handlebars.Visitor {
  readonly mistakes: string[] = []
  readonly path: string
  readonly partials: Set<string>

  constructor(path: string, partials: Set<string>) {
    super()
    this.path = path
    this.partials = partials
  }

  report(node: hbs.AST.Node, mistake: string): void {
    this.mistakes.push(`${this.path}:${node.loc.start.line}: ${mistake}`)
  }

  override MustacheStatement(node: hbs.AST.MustacheStatement): void {
    if (!node.escaped) this.report(node, 'unescaped output ({{{ }}} or {{& }}): everything on the page is escaped')
    if (node.params.length > 0 || node.hash !== undefined) this.report(node, `unknown helper "${nameOf(node.path)}"`)
    super.MustacheStatement(node)
  }

  override BlockStatement(node: hbs.AST.BlockStatement): void {
    if (!helpers.includes(nameOf(node.path))) this.report(node, `unknown helper "${nameOf(node.path)}": blocks are ${helpers.join(', ')}`)
    super.BlockStatement(node)
  }

  override SubExpression(node: hbs.AST.SubExpression): void {
    this.report(node, `unknown helper "${nameOf(node.path)}": templates compute nothing`)
  }

  override PartialStatement(node: hbs.AST.PartialStatement): void {
    if (!this.partials.has(nameOf(node.name))) this.report(node, `unknown partial "${nameOf(node.name)}"`)
    super.PartialStatement(node)
  }

  override PartialBlockStatement(node: hbs.AST.PartialBlockStatement): void {
    this.report(node, 'partial blocks are not used here')
  }
}

const nameOf = (path: hbs.AST.Expression | hbs.AST.PathExpression) => ('original' in path ? String(path.original) : '')

/** A partial that is nothing but this text. */
function literal(name: string, text: string): Template {
  if (text.includes('{{')) throw new TemplateError(`${name}: two curly braces in a row would be an expression`)
  return { name, path: name, program: Handlebars.parseWithoutProcessing(text) }
}

function precompile(directory: string): string {
  const css = readFileSync(join(directory, 'report.css'), 'utf8')
  const templates = [
    ...readTemplates(directory),
    literal('style', css),
    // The page's policy admits this one style sheet by its digest, and no other.
    literal('style-digest', `sha256-${createHash('sha256').update(css).digest('base64')}`),
  ]
  const names = new Set(templates.map(({ name }) => name))
  const mistakes = templates.flatMap(({ path, program }) => {
    const check = new Check(path, names)
    check.accept(program)
    return check.mistakes
  })
  if (mistakes.length > 0) throw new TemplateError(mistakes.join('\n'))
  const specifications = templates.map(({ name, path, program }) => {
    try {
      return `  ${JSON.stringify(name)}: ${Handlebars.precompile(program, { strict: true, knownHelpersOnly: true, knownHelpers })},`
    } catch (error) {
      throw new TemplateError(`${path}: ${error instanceof Error ? error.message : error}`)
    }
  })
  return `// Written by templates/precompile.ts.
import Handlebars from 'handlebars/runtime.js'

const specifications = {
${specifications.join('\n')}
}

const runtime = Handlebars.create()
const templates = Object.fromEntries(Object.entries(specifications).map(([name, specification]) => [name, runtime.template(specification)]))
runtime.registerPartial(templates)

export const renderPage = view => templates.report(view)
`
}

const here = dirname(fileURLToPath(import.meta.url))
const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })
const target = values.to ?? join(here, '../src/report/compiled-templates.js')
try {
  const module = precompile(values.from ?? here)
  mkdirSync(dirname(target), { recursive: true })
  // Whole or not at all: a test or a build may be reading it.
  const unfinished = `${target}.${process.pid}`
  writeFileSync(unfinished, module)
  renameSync(unfinished, target)
} catch (error) {
  if (!(error instanceof TemplateError)) throw error
  process.stderr.write(`The templates do not compile:\n${error.message}\n`)
  process.exitCode = 1
}
