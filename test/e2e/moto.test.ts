/** A second opinion: moto, an AWS stand-in by others, takes the calls as they are. Only where it is installed (`pip install 'moto[server]'`). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Ec2Api } from '#clients/aws/ec2.ts'
import { kmsMacKey } from '#clients/aws/kms.ts'
import { callerAccount } from '#clients/aws/sts.ts'
import { sendMail } from '#clients/send/sesv2.ts'
import { s3Store } from '#clients/store/s3.ts'
import { type Moto, motoProgram, startMoto } from '#test/strangers/moto.ts'

const region = 'us-east-1'
const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' })

const program = motoProgram()
describe.skipIf(program === null)(
  `moto${program === null ? ' (skipped: there is no moto_server on the PATH)' : ''}`,
  () => {
    let moto: Moto
    let endpoint = ''
    const before = { ...process.env }
    beforeAll(async () => {
      moto = await startMoto(program ?? '')
      endpoint = moto.endpoint
      for (const name of ['EC2', 'KMS', 'S3', 'SESV2', 'STS'])
        process.env[`AWS_ENDPOINT_URL_${name}`] = endpoint
      const headers = {
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/${region}/s3/aws4_request, SignedHeaders=host, Signature=0`,
      }
      await fetch(`${endpoint}/reports`, { method: 'PUT', headers })
      const identity = {
        ...headers,
        authorization: headers.authorization.replace('/s3/', '/ses/'),
        'content-type': 'application/json',
      }
      await fetch(`${endpoint}/v2/email/identities`, {
        method: 'POST',
        headers: identity,
        body: '{"EmailIdentity":"example.com"}',
      })
    }, 150_000)
    afterAll(async () => {
      await moto?.close()
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    })

    it('names the caller', async () => {
      expect(await callerAccount(region, credentials, AbortSignal.timeout(10_000))).toMatch(
        /^\d{12}$/,
      )
    })

    it('seals and checks by an HMAC key', async () => {
      const made = await fetch(endpoint, {
        method: 'POST',
        headers: {
          authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/${region}/kms/aws4_request, SignedHeaders=host, Signature=0`,
          'content-type': 'application/x-amz-json-1.1',
          'x-amz-target': 'TrentService.CreateKey',
        },
        body: JSON.stringify({ KeySpec: 'HMAC_256', KeyUsage: 'GENERATE_VERIFY_MAC' }),
      })
      const { KeyMetadata } = (await made.json()) as { KeyMetadata: { Arn: string } }
      const key = kmsMacKey({ keyId: KeyMetadata.Arn, region, credentials })
      const mac = await key.mac('a run')
      expect([await key.isMac('a run', mac), await key.isMac('another', mac)]).toEqual([
        true,
        false,
      ])
      expect(await key.identity()).toMatch(/^arn:aws:/)
    })

    it('describes a launch template by its versions', async () => {
      const userData = Buffer.from('[settings.kubernetes]\nmax-pods = 20').toString('base64')
      const created = new URLSearchParams({
        Action: 'CreateLaunchTemplate',
        Version: '2016-11-15',
        LaunchTemplateName: 'own',
        'LaunchTemplateData.UserData': userData,
      })
      const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/${region}/ec2/aws4_request, SignedHeaders=host, Signature=0`
      await fetch(endpoint, { method: 'POST', headers: { authorization }, body: created })
      const ec2 = new Ec2Api(region, credentials)
      const asked = { by: { name: 'own' }, versions: ['1', '$Latest'] }
      expect(await ec2.launchTemplates(asked, AbortSignal.timeout(10_000))).toMatchObject({
        templates: [
          {
            launchTemplateName: 'own',
            versionNumber: 1,
            kubelet: { source: 'bottlerocket', config: { maxPods: 20 } },
          },
        ],
        unread: [],
      })
      ec2.close()
    })

    it('keeps, creates once, replaces by version and lists', async () => {
      const store = s3Store({ bucket: 'reports', prefix: 'eks/', region, credentials })
      await store.write('runs/1/report.html', '<p>ä</p>', 'text/html')
      expect((await store.read('runs/1/report.html'))?.body.toString()).toBe('<p>ä</p>')
      expect(await store.read('runs/1/none')).toBeNull()
      expect(await store.create('mark', 'one', 'text/plain')).toBe(true)
      expect(await store.create('mark', 'two', 'text/plain')).toBe(false)
      const { version = '' } = (await store.read('mark')) ?? {}
      expect(await store.replace('mark', 'three', version, 'text/plain')).toBe(true)
      expect(await store.replace('mark', 'four', version, 'text/plain')).toBe(false)
      expect(await Array.fromAsync(store.list('runs/'))).toEqual(['runs/1/report.html'])
    })

    it('takes the mail with its attachment', async () => {
      const attachments = [
        { fileName: 'report.html', contentType: 'text/html', body: Buffer.from('<p>report</p>') },
      ]
      const mail = {
        from: 'highwater@example.com',
        to: ['team@example.com'],
        subject: 'Quiet',
        html: '<p>quiet</p>',
        text: 'quiet',
        attachments,
      }
      expect(await sendMail(mail, { region, credentials })).not.toBe('')
    })
  },
)
