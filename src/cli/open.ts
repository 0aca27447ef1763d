/** `highwater open`: opens a report of the service in the browser, by a URL that is signed with the reader's own credentials. */
import { spawn } from 'node:child_process'
import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '#base/operator-error.ts'
import { hasObject, objectUrl } from '#clients/store/s3.ts'
import { exitAction } from './options.ts'
import { regionOf } from './store.ts'
import { exitCode } from './terminal.ts'

const expiresIn = 3600

interface OpenOptions {
  bucket: { bucket: string; prefix: string }
  region?: string
  page: string
  print?: boolean
}

export const openCommand = () =>
  new Command('open')
    .argument('[run]', 'the run as its mail names it, or latest', parseRun, 'latest')
    .requiredOption('--bucket <place>', "the service's bucket, or BUCKET/PREFIX", parseBucket)
    .option('--region <region>', 'the region of the bucket (default: the region of the SDK)')
    .option('--page <name>', 'another file of the run', parsePage, 'report.html')
    .option('--print', 'print the URL; open nothing')
    .addHelpText(
      'after',
      `
The URL works for an hour, and only as long as your credentials. It needs
s3:GetObject below BUCKET/PREFIX, and kms:Decrypt if a KMS key encrypts the
bucket. Who has the URL can read the report: do not pass it on.

Examples:
  highwater open latest --bucket our-bucket/highwater
  highwater open 2026-11-22T05-00-00Z --bucket our-bucket --region eu-central-1
  highwater open --bucket our-bucket --print

Exit codes: 0 opened or printed; 2 no such report, or bad usage; 4 no
credentials, no right to read it, or no browser.`,
    )
    .action(exitAction(runOpen))

async function runOpen(run: string, { bucket, region, page, print }: OpenOptions): Promise<number> {
  const place = { ...bucket, region: region ?? (await regionOf(`the bucket ${bucket.bucket}`)) }
  const key = run === 'latest' ? `latest/${page}` : `runs/${run}/${page}`
  if (!(await hasObject(place, key)))
    throw new OperatorError(
      `s3://${bucket.bucket}/${bucket.prefix}${key} is not there. Compare bucket, prefix and run with the mail. If no run was published yet, start one`,
    )
  const url = await objectUrl(place, key, { expiresIn, signingDate: new Date() })
  if (print === true) {
    process.stdout.write(`${url}\n`)
    return exitCode.ok
  }
  if (await openUrl(url)) return exitCode.ok
  process.stderr.write('No browser could be started. Open this URL, or use --print:\n')
  process.stdout.write(`${url}\n`)
  return exitCode.failed
}

const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Starts the system's opener without a shell: the URL is one argument. */
function openUrl(url: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open']
  return new Promise(resolve => {
    const child = spawn(program, [...args, url], { stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('exit', code => resolve(code === 0))
  })
}

function parseBucket(text: string) {
  const [bucket = '', ...folders] = text.replace(/^s3:\/\//, '').split('/')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new InvalidArgumentError('A bucket, or BUCKET/PREFIX.')
  const prefix = folders.filter(Boolean).join('/')
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` }
}

function parseRun(text: string) {
  if (/^[\w.-]{1,100}$/.test(text) && !/^\.+$/.test(text)) return text
  throw new InvalidArgumentError('The name of a run, such as 2026-11-22T05-00-00Z, or latest.')
}

function parsePage(text: string) {
  if (/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(text)) return text
  throw new InvalidArgumentError('The name of a file, such as findings.json.')
}
