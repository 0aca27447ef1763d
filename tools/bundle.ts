/**
 * Compiles the sources: the CLI, the Lambda handlers and the programs of the lab as ES modules that share their chunks, and the files that are
 * read at run time. The package contains the result, and a clone runs it. Everything is compiled in, so there are no dependencies.
 *
 *   node tools/bundle.ts    compiles a clone's sources, if they changed
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { compiledFolder } from './compiled-folder.mjs'

const { plugins } = createRequire(import.meta.url)('../src/handlers/bundle.cjs')
const root = join(import.meta.dirname, '..')
/** Read by `readAsset`. */
const assets = [
  'events/scheduled.json',
  'lab/machines/stand-ins/*.sh',
  'src/facts/kubelet/feature-gates.json',
  'src/report/languages/{ja,ko,zh}.*.json',
  'src/remediate/scripts/*.sh',
  'templates/member-account.yaml',
  'test/fixtures/real/*.json',
]
/** Started by `programUrl`. */
const programs = globSync('lab/machines/programs/*.ts', { cwd: root })

/** Texts in other languages and the history of feature gates compress to a quarter, and most runs read none. */
const packedData: Plugin = {
  name: 'packed-data',
  setup: build =>
    build.onLoad({ filter: /(languages[\\/](ja|ko|zh)\..*|feature-gates)\.json$/ }, ({ path }) => {
      const asset = relative(root, path)
      return {
        contents: `import { readAsset } from '#asset.ts'
export default JSON.parse(readAsset('${asset}'))`,
        loader: 'js',
        resolveDir: root,
      }
    }),
}

/** Shells need no comments of the completion scripts; the first line of zsh's is none. */
const bareCompletion: Plugin = {
  name: 'bare-completion',
  setup: build =>
    build.onLoad({ filter: /@bomb\.sh[\\/]tab[\\/]dist[\\/].*\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/^ *# .*\n/gm, ''),
      loader: 'js',
    })),
}

/** The SDK's list of credential providers brings those of Cognito along, which `src/clients` never calls. */
const withoutCognito: Plugin = {
  name: 'without-cognito',
  setup(build) {
    build.onResolve({ filter: /credential-provider-cognito-identity$/ }, ({ path }) => ({
      path,
      namespace: 'cognito',
    }))
    build.onLoad({ filter: /.*/, namespace: 'cognito' }, () => ({
      contents: 'export const fromCognitoIdentity = null, fromCognitoIdentityPool = null',
    }))
  },
}

/**
 * Of client-node the CLI uses KubeConfig alone: what it makes of a kubeconfig's credentials. Its API classes go, and so do the HTTP clients and
 * proxies behind them (src/clients opens connections of its own), and the sign-in of other clouds that kubectl dropped with 1.26.
 */
const onlyKubeconfig: Plugin = {
  name: 'only-kubeconfig',
  setup(build) {
    build.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({
      path: join(root, 'node_modules/@kubernetes/client-node/dist/config.js'),
    }))
    // Its YAML is read by the parser that reads ours.
    build.onResolve({ filter: /^js-yaml$/ }, () => ({ path: 'js-yaml', namespace: 'yaml' }))
    build.onLoad({ filter: /.*/, namespace: 'yaml' }, () => ({
      contents: "export { parse as load, stringify as dump } from 'yaml'",
      resolveDir: root,
    }))
    const unused =
      /^(undici|hpagent|socks|socks-proxy-agent|bowser|\.\/(azure_auth|gcp_auth|gen\/index)\.js)$/
    build.onResolve({ filter: unused }, ({ path, importer }) =>
      /client-node|user-agent-browser/.test(importer) ? { path, namespace: 'unused' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      // On the prototype, because esbuild copies only a module's own names and keeps its prototype.
      contents:
        'module.exports = Object.create(new Proxy({}, { get: () => class { isAuthProvider() { return false } } }))',
      loader: 'js',
    }))
  },
}

/** The SDKs of AWS take 70 ms of CPU to load. An audit by a kubeconfig or of a snapshot uses none, so the first use of one of their names loads them. */
const sdkFile = 'aws.cjs'
const sdkImport = /^import \{([^}]*)\} from '(@(?:aws-sdk|aws-crypto|smithy)\/[\w-]+)'/gm
const lateSdks: Plugin = {
  name: 'late-sdks',
  setup(build) {
    build.onResolve({ filter: /^@(aws-sdk|aws-crypto|smithy)\/[\w-]+$/ }, ({ path, importer }) =>
      importer.startsWith(join(root, 'src')) ? { path, namespace: 'late' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'late' }, () => ({
      // On the prototype, as above.
      contents: `module.exports = Object.create(new Proxy({}, { get: (_, name) => require('./${sdkFile}')[name] }))`,
    }))
    build.onResolve({ filter: /^\.\/aws\.cjs$/ }, ({ path }) => ({ path, external: true }))
  },
}

/** What the sources import of the SDKs. */
const usedOfSdks = () =>
  globSync('src/**/*.ts', { cwd: root })
    .flatMap(file => [...readFileSync(join(root, file), 'utf8').matchAll(sdkImport)])
    .map(([, names, sdk]) => `export {${names}} from '${sdk}'`)
    .join('\n')

/** An import of it as an ES module reads all that it exports, and so loads Node's WebSocket: 45 ms of CPU at each start. */
const plainHttp: Plugin = {
  name: 'plain-http',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === 'require-call'
        ? { path: 'node:http', external: true }
        : { path: 'http', namespace: 'plain' },
    )
    build.onLoad({ filter: /.*/, namespace: 'plain' }, () => ({
      contents: "module.exports = require('node:http')",
    }))
  },
}

/** Compiles into an empty folder. @returns what esbuild read and wrote */
export async function bundleInto(outdir: string): Promise<Metafile> {
  execFileSync(process.execPath, [join(root, 'templates/precompile.ts')], { stdio: 'inherit' })
  const options = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node22',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  } satisfies BuildOptions
  const common = [...plugins, withoutCognito]
  const { metafile } = await build({
    ...options,
    entryPoints: {
      main: 'src/cli/main.ts',
      lambda: 'tools/lambda.ts',
      ...Object.fromEntries(programs.map(file => [file.replace(/\.ts$/, ''), file])),
    },
    // Beside each other, so that readAsset finds assets.br from every chunk.
    chunkNames: '[hash]',
    splitting: true,
    format: 'esm',
    plugins: [...common, onlyKubeconfig, packedData, bareCompletion, plainHttp, lateSdks],
  })
  const sdks = await build({
    ...options,
    stdin: { contents: usedOfSdks(), loader: 'ts', resolveDir: root },
    outdir: undefined,
    outfile: join(outdir, sdkFile),
    format: 'cjs',
    plugins: common,
  })
  Object.assign(metafile.inputs, sdks.metafile.inputs)
  // CommonJS packages require Node's own modules.
  for (const file of globSync('*.js', { cwd: outdir })) {
    const code = readFileSync(join(outdir, file), 'utf8')
    if (!/\brequire\b/.test(code)) continue
    writeFileSync(
      join(outdir, file),
      `import { createRequire as requireOf } from 'node:module';const require=requireOf(import.meta.url);${code}`,
    )
  }
  const texts = assets.flatMap(pattern =>
    globSync(pattern, { cwd: root }).map(file => [file, readFileSync(join(root, file), 'utf8')]),
  )
  writeFileSync(
    join(outdir, 'assets.br'),
    brotliCompressSync(JSON.stringify(Object.fromEntries(texts))),
  )
  return metafile
}

const dayMs = 86_400_000

/** Compiles into a folder beside the wanted one, so that a start at the same moment sees all files or none. */
async function bundleClone(): Promise<void> {
  const folder = compiledFolder()
  if (existsSync(folder)) return
  const cache = dirname(folder)
  mkdirSync(cache, { recursive: true })
  // A program that still runs may load further files of its own compiled sources.
  for (const name of readdirSync(cache))
    if (Date.now() - statSync(join(cache, name)).mtimeMs > dayMs)
      rmSync(join(cache, name), { recursive: true, force: true })
  const unfinished = mkdtempSync(`${folder}-`)
  await bundleInto(unfinished)
  // Else Node looks into each file for what it is: 0.1 s of CPU at each start.
  writeFileSync(join(unfinished, 'package.json'), '{"type":"module"}')
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

if (import.meta.main) await bundleClone()
