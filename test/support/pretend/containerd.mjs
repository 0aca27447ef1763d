/** The images of a containerd as ctr and crictl show and change them, in `images.json` of the world: by name, their labels. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [world, program, ...args] = process.argv.slice(2)
const at = name => join(world, name)
const images = existsSync(at('images.json'))
  ? JSON.parse(readFileSync(at('images.json'), 'utf8'))
  : {}
const save = () => writeFileSync(at('images.json'), JSON.stringify(images))
const fail = message => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
const labelsOf = name => images[name] ?? fail(`ctr: image "${name}": not found`)
appendFileSync(at('calls'), `${[program, ...args].join(' ')}\n`)

if (program === 'crictl' && args[0] === 'pull') {
  const registry = JSON.parse(readFileSync(at('registry.json'), 'utf8'))
  if (!registry.includes(args[1]))
    fail('E1121 "PullImage from image service failed" err="401 Unauthorized"')
  images[args[1]] ??= { 'io.cri-containerd.image': 'managed' }
  save()
} else if (program === 'crictl' && args[0] === 'inspecti') {
  if (images[args[1]] === undefined || existsSync(at('unseen')))
    fail(`no such image "${args[1]}" present`)
  process.stdout.write('{}\n')
} else if (program === 'ctr' && args.slice(0, 3).join(' ') === '-n k8s.io images') {
  const [verb, name, ...more] = args.slice(3)
  if (verb === 'ls') {
    process.stdout.write('REF TYPE DIGEST SIZE PLATFORMS LABELS\n')
    const [, wanted] = /^name==(.*)$/.exec(name) ?? fail(`ctr: unknown filter ${name}`)
    if (images[wanted]) {
      const labels = Object.entries(images[wanted]).map(([key, value]) => `${key}=${value}`)
      process.stdout.write(
        `${wanted} application/vnd.oci.image.index.v1+json sha256:${'a'.repeat(64)} 2.1 MiB linux/amd64 ${labels.sort().join(',') || '-'}\n`,
      )
    }
  } else if (verb === 'tag') {
    if (images[more[0]]) fail(`ctr: image "${more[0]}": already exists`)
    images[more[0]] = { ...labelsOf(name) }
    save()
  } else if (verb === 'label') {
    const labels = labelsOf(name)
    for (const pair of more) {
      const [key, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
      if (value === '') delete labels[key]
      else labels[key] = value
    }
    save()
  } else if (verb === 'rm') {
    labelsOf(name)
    delete images[name]
    save()
  } else fail(`ctr: unknown command ${verb}`)
} else fail(`${program}: unknown ${args.join(' ')}`)
