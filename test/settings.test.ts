import { describe, expect, it } from 'vitest'
import { parseSettings } from '#settings.ts'

const whole = {
  HIGHWATER_BUCKET: 'reports',
  HIGHWATER_PREFIX: 'eks/',
  HIGHWATER_KMS_KEY_ID: 'alias/reports',
  HIGHWATER_RUN_KEY_ID: 'alias/runs',
  HIGHWATER_APPROVAL_KEY_ID: 'alias/approvals',
  HIGHWATER_SENDER: 'highwater@example.com',
  HIGHWATER_RECIPIENTS: 'a@example.com, b@example.com,',
  HIGHWATER_REPORT_BASE_URL: 'https://reports.example.com/',
  HIGHWATER_STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:111122223333:stateMachine:highwater-prod',
  HIGHWATER_TOPIC_ARN: 'arn:aws:sns:eu-west-1:111122223333:reports',
  HIGHWATER_EVENT_BUS_ARN: 'arn:aws:events:eu-west-1:111122223333:event-bus/default',
  HIGHWATER_WEBHOOK_URL: 'https://hooks.slack.com/services/T000/B000/XXXX',
}

const noGrants = {
  memberRoles: [],
  kubeletRoles: [],
  showsOwnToken: false,
  plans: false,
  approvals: true,
  mail: [],
  inspectOutputBucket: null,
}

describe('parseSettings', () => {
  it('takes what the stack sets', () => {
    expect(parseSettings({ ...whole, PATH: '/bin', HIGHWATER_SERVICE: 'highwater-prod' })).toEqual({
      bucket: 'reports',
      prefix: 'eks/',
      kmsKeyId: 'alias/reports',
      runKeyId: 'alias/runs',
      approvalKeyId: 'alias/approvals',
      sender: 'highwater@example.com',
      recipients: ['a@example.com', 'b@example.com'],
      reportBaseUrl: 'https://reports.example.com',
      stateMachineArn: 'arn:aws:states:eu-west-1:111122223333:stateMachine:highwater-prod',
      topicArn: 'arn:aws:sns:eu-west-1:111122223333:reports',
      eventBusArn: 'arn:aws:events:eu-west-1:111122223333:event-bus/default',
      webhookUrl: 'https://hooks.slack.com/services/T000/B000/XXXX',
      webhookFormat: 'slack',
      webhookHosts: ['hooks.slack.com'],
      policyGrants: { ...noGrants, mail: ['example.com'] },
    })
  })

  it('takes an empty value for none, as an unset stack parameter arrives', () => {
    const empty = Object.fromEntries(Object.keys(whole).map(name => [name, '']))
    expect(parseSettings({ ...empty, HIGHWATER_BUCKET: 'reports' })).toEqual({
      bucket: 'reports',
      prefix: '',
      kmsKeyId: null,
      runKeyId: null,
      approvalKeyId: null,
      sender: null,
      recipients: [],
      reportBaseUrl: null,
      stateMachineArn: null,
      topicArn: null,
      eventBusArn: null,
      webhookUrl: null,
      webhookFormat: 'slack',
      webhookHosts: ['hooks.slack.com'],
      policyGrants: noGrants,
    })
  })

  it('takes how far the policy may reach', () => {
    const { webhookHosts, policyGrants } = parseSettings({
      ...whole,
      HIGHWATER_WEBHOOK_HOSTS: 'chat.example.com, *.example.net',
      HIGHWATER_SHOWS_OWN_TOKEN: 'yes',
      HIGHWATER_REMEDIATION: 'on',
      HIGHWATER_SHARES_RUN_KEY: 'yes',
      HIGHWATER_MEMBER_ROLE_ARNS: 'arn:aws:iam::444455556666:role/highwater,arn:aws:iam::*:role/x',
      HIGHWATER_POLICY_RECIPIENTS: 'Team.example.com,kim@example.org',
      HIGHWATER_INSPECT_OUTPUT_BUCKET: 'answers',
    })
    expect(webhookHosts).toEqual(['chat.example.com', '*.example.net'])
    expect(policyGrants).toEqual({
      memberRoles: ['arn:aws:iam::444455556666:role/highwater', 'arn:aws:iam::*:role/x'],
      kubeletRoles: [],
      showsOwnToken: true,
      plans: true,
      approvals: false,
      mail: ['a@example.com', 'b@example.com', 'team.example.com', 'kim@example.org'],
      inspectOutputBucket: 'answers',
    })
  })

  it.each([
    [{ HIGHWATER_RECIPIENT: 'a@example.com' }, 'HIGHWATER_RECIPIENT'],
    [{ HIGHWATER_BUCKET: 'a..b' }, 'an S3 bucket name'],
    [{ HIGHWATER_MEMBER_ROLE_ARNS: '*' }, 'ARNs of IAM roles'],
    [{ HIGHWATER_POLICY_RECIPIENTS: '*' }, 'addresses and domains'],
    [{ HIGHWATER_WEBHOOK_HOSTS: 'https://a' }, 'host names'],
    [{ HIGHWATER_BUCKET: 'ab' }, 'wrong: HIGHWATER_BUCKET: an S3 bucket name'],
    [{ HIGHWATER_BUCKET: 'a'.repeat(64) }, 'wrong: HIGHWATER_BUCKET: an S3 bucket name'],
    [
      { HIGHWATER_BUCKET: 'reports', HIGHWATER_RECIPIENTS: 'a@example.com' },
      'recipients without a sender',
    ],
    [{ ...whole, HIGHWATER_RECIPIENTS: 'a@example.com,team' }, 'team is no e-mail address'],
    [
      {
        ...whole,
        HIGHWATER_RECIPIENTS: Array.from(
          { length: 51 },
          (_, index) => `a${index}@example.com`,
        ).join(),
      },
      '51 addresses',
    ],
    [{ ...whole, HIGHWATER_REPORT_BASE_URL: 'javascript:alert(1)' }, 'an https:// address'],
    [{ ...whole, HIGHWATER_REPORT_BASE_URL: 'https://r.example.com/?a=b' }, 'an https:// address'],
    [
      { ...whole, HIGHWATER_REPORT_BASE_URL: 'https://me:secret@r.example.com' },
      'an https:// address',
    ],
    [{ ...whole, HIGHWATER_BUCKET: 'Not_A_Bucket' }, 'an S3 bucket name'],
    [{ ...whole, HIGHWATER_PREFIX: '../up/' }, 'a key prefix'],
    [{ ...whole, HIGHWATER_PREFIX: 'eks' }, 'a key prefix'],
  ])('refuses %j: %s', (environment, message) => {
    expect(() => parseSettings(environment)).toThrow(message)
  })

  it.each([
    ['HIGHWATER_TOPIC_ARN', 'reports', 'the ARN of an SNS topic'],
    ['HIGHWATER_EVENT_BUS_ARN', 'default', 'the ARN of an EventBridge bus'],
    [
      'HIGHWATER_TOPIC_ARN',
      'arn:aws:sns:eu-west-1:111122223333:reports.fifo',
      'standard, not FIFO',
    ],
    ['HIGHWATER_STATE_MACHINE_ARN', 'highwater-prod', 'the ARN of a state machine'],
    ['HIGHWATER_WEBHOOK_URL', 'http://hooks.slack.com/s3cret', 'an https:// address'],
    ['HIGHWATER_WEBHOOK_URL', 'https://me:s3cret@hooks.slack.com/x', 'an https:// address'],
    ['HIGHWATER_WEBHOOK_URL', '{{resolve:secretsmanager:s3cret}}', 'an https:// address'],
  ])('refuses %s that is %s, and repeats no secret', (name, value, message) => {
    expect(() => parseSettings({ ...whole, [name]: value })).toThrow(message)
    expect(() => parseSettings({ ...whole, [name]: value })).not.toThrow('s3cret')
  })

  it('names every mistake at once', () => {
    const wrong = { HIGHWATER_BUCKET: 'X', HIGHWATER_SENDER: 'me', HIGHWATER_RECIPIENTS: 'you' }
    expect(() => parseSettings(wrong)).toThrow(
      /HIGHWATER_BUCKET.*HIGHWATER_SENDER.*HIGHWATER_RECIPIENTS/s,
    )
  })
})
