/**
 * A plugin of the Serverless Framework: before the service is packaged or invoked locally, each function becomes one file in `.build/`; before it is
 * packaged, the SSM documents get their scripts. They come in here because the framework would take a shell's own variables for its own.
 * CommonJS on purpose: `invoke local` cannot load an ES module out of a package of ES modules, and hangs.
 */
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..', '..')
/** By the name in serverless.yml, the file of its handler. */
const functions = { audit: 'audit', auditShard: 'audit-shard', discover: 'discover', publish: 'publish', remediate: 'remediate' }
/** Bundled code reads nothing of a package.json but name and version. */
const onlyVersion = {
  name: 'only-version',
  setup: build =>
    build.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      const { name, version } = require(path)
      return { contents: JSON.stringify({ name, version }), loader: 'json' }
    }),
}

/**
 * The SDK's schemas have computed keys (`[_xN]: …`, constants of the file). esbuild cannot drop what computes a key, so each client would keep
 * the schemas of all its operations, half a megabyte of EC2, and the classes of all errors. With the constant's text as the key it drops what is not used.
 */
const plainSchemaKeys = {
  name: 'plain-schema-keys',
  setup: build =>
    build.onLoad({ filter: /schemas_0\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const texts = new Map([...text.matchAll(/^const (_\w+) = ("[^"]*");$/gm)].map(([, name, value]) => [name, value]))
      const plain = text.replace(/\[(_\w+)\]:/g, (key, name) => (texts.has(name) ? `${texts.get(name)}:` : key))
      // An error that is not registered has the same name, message and metadata, in the service's own class: the code goes by names.
      return { contents: plain.replace(/^n\d+_registry\.registerError\(.*$/gm, ''), loader: 'js' }
    }),
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

  /** The framework accepts any name: a misspelt one would silently keep the default. */
  checkParameters() {
    const { Parameters } = this.serverless.service.resources
    const known = Object.keys(Parameters).map(name => name[0].toLowerCase() + name.slice(1))
    const given = (this.serverless.processedInput.options.param ?? []).map(parameter => parameter.split('=')[0])
    const unknown = given.filter(name => !known.includes(name))
    if (unknown.length > 0)
      throw new this.serverless.classes.Error(`serverless.yml has no parameter ${unknown.join(', ')}. There are: ${known.join(', ')}`)
  }

  /** Content is a string, so that what is deployed has the hash that the sender pins, to the byte. */
  fillDocuments() {
    const printed = execFileSync(process.execPath, [join(root, 'tools/documents.ts')])
    const resources = this.serverless.service.resources.Resources
    for (const { resource, content } of JSON.parse(printed)) resources[resource].Properties.Content = content
  }

  build() {
    return bundleInto(join(this.serverless.serviceDir, '.build'))
  }
}

/** Each function as one file. */
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
    // Else each letter of the catalogues takes six.
    charset: 'utf8',
    sourcemap: 'external',
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // The SDK's ES modules first: of those only what is called is taken in. It makes the bundle a third smaller.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    plugins,
  })
}

module.exports = Bundle
Object.assign(module.exports, { bundleInto, functions, plugins })
