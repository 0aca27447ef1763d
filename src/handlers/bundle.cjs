/**
 * A plugin of the Serverless Framework. Before the service is packaged or invoked locally, it bundles each function into one file in `.build/`. Before
 * packaging, it also puts the scripts into the SSM documents: the framework would take the shell variables of a script for its own variables.
 * The plugin is CommonJS on purpose: `invoke local` never ends if it loads an ES module from a package of ES modules.
 */
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { brotliCompressSync } = require('node:zlib')

const root = join(__dirname, '..', '..')
/** Maps each function's name in serverless.yml to the file of its handler. */
const functions = { audit: 'audit', auditShard: 'audit-shard', discover: 'discover', publish: 'publish', remediate: 'remediate' }
/** Bundled code reads only name and version from a package.json. */
const onlyVersion = {
  name: 'only-version',
  setup: build =>
    build.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      const { name, version } = require(path)
      return { contents: JSON.stringify({ name, version }), loader: 'json' }
    }),
}

/**
 * The SDK's schemas have computed keys (`[_xN]: …`, where `_xN` is a constant of the file). esbuild keeps every computed key, so each client would
 * keep the schemas of all its operations (half a megabyte for EC2) and all its error classes. With the constant's text as key, esbuild drops unused schemas.
 */
const plainSchemaKeys = {
  name: 'plain-schema-keys',
  setup: build =>
    build.onLoad({ filter: /schemas_0\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const texts = new Map([...text.matchAll(/^const (_\w+) = ("[^"]*");$/gm)].map(([, name, value]) => [name, value]))
      const plain = text.replace(/\[(_\w+)\]:/g, (key, name) => (texts.has(name) ? `${texts.get(name)}:` : key))
      // An unregistered error has the same name, message and metadata, but the service's own class. Our code compares only names.
      return { contents: plain.replace(/^n\d+_registry\.registerError\(.*$/gm, ''), loader: 'js' }
    }),
}

/** Texts in other languages and the history of feature gates. JSON.parse reads them faster than V8 compiles the same objects. */
const packedData = {
  name: 'packed-data',
  setup: build =>
    build.onLoad({ filter: /(languages[\\/][a-z]+\.[a-z]+|feature-gates)\.json$/ }, ({ path }) => ({
      contents: `import { brotliDecompressSync } from 'node:zlib'
export default JSON.parse(brotliDecompressSync(Buffer.from('${brotliCompressSync(readFileSync(path)).toString('base64')}', 'base64')).toString())`,
      loader: 'js',
    })),
}

const plugins = [onlyVersion, plainSchemaKeys]

class Bundle {
  constructor(serverless) {
    this.serverless = serverless
    const build = () => this.build()
    this.hooks = {
      'before:package:createDeploymentArtifacts': () => {
        this.checkParameters()
        this.fillDocuments()
        return build()
      },
      'before:invoke:local:invoke': build,
    }
  }

  /** The framework accepts any parameter name: a misspelt name would silently keep the default. */
  checkParameters() {
    const { Parameters } = this.serverless.service.resources
    const known = Object.keys(Parameters).map(name => name[0].toLowerCase() + name.slice(1))
    const given = (this.serverless.processedInput.options.param ?? []).map(parameter => parameter.split('=')[0])
    const unknown = given.filter(name => !known.includes(name))
    if (unknown.length > 0)
      throw new this.serverless.classes.Error(`serverless.yml has no parameter ${unknown.join(', ')}. There are: ${known.join(', ')}`)
  }

  /** Content is a string, so that the deployed document has exactly the bytes whose hash the sender pins. */
  fillDocuments() {
    const printed = execFileSync(process.execPath, [join(root, 'tools/documents.ts')])
    const resources = this.serverless.service.resources.Resources
    for (const { resource, content } of JSON.parse(printed)) resources[resource].Properties.Content = content
  }

  build() {
    return bundleInto(join(this.serverless.serviceDir, '.build'))
  }
}

/** Bundles each function into one file in `outdir`. */
async function bundleInto(outdir) {
  execFileSync(process.execPath, [join(root, 'templates/precompile.ts')], { stdio: 'inherit' })
  const { build } = require('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(functions).map(([name, file]) => [name, `src/handlers/${file}.ts`])),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    sourcemap: 'external',
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // Prefers the SDK's ES modules: esbuild then bundles only the code that is used. The bundle is a third smaller.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [...plugins, packedData],
  })
}

module.exports = Bundle
Object.assign(module.exports, { bundleInto, functions, plugins })
