/** When an invocation is traced, and that a trace that goes nowhere costs nothing. What arrives: test/handlers/run-log.test.ts. */
import { describe, expect, it } from 'vitest'
import { openTrace } from '#clients/aws/xray.ts'

const header = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1'
const daemon = '127.0.0.1:2000'

describe('openTrace', () => {
  it.each([
    ['sampled', { _X_AMZN_TRACE_ID: header, AWS_XRAY_DAEMON_ADDRESS: daemon }, true],
    ['sampled, by IPv6', { _X_AMZN_TRACE_ID: header, AWS_XRAY_DAEMON_ADDRESS: '[::1]:2000' }, true],
    [
      'not sampled',
      {
        _X_AMZN_TRACE_ID: header.replace('Sampled=1', 'Sampled=0'),
        AWS_XRAY_DAEMON_ADDRESS: daemon,
      },
      false,
    ],
    [
      'without a decision',
      { _X_AMZN_TRACE_ID: header.replace(';Sampled=1', ''), AWS_XRAY_DAEMON_ADDRESS: daemon },
      false,
    ],
    [
      'without a parent',
      {
        _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1',
        AWS_XRAY_DAEMON_ADDRESS: daemon,
      },
      false,
    ],
    ['outside of Lambda', {}, false],
    ['without a daemon', { _X_AMZN_TRACE_ID: header }, false],
    [
      'with a port that is none',
      { _X_AMZN_TRACE_ID: header, AWS_XRAY_DAEMON_ADDRESS: '127.0.0.1:99999' },
      false,
    ],
    [
      'with an address that is none',
      {
        _X_AMZN_TRACE_ID: header,
        AWS_XRAY_DAEMON_ADDRESS: 'tcp:127.0.0.1:2000 udp:127.0.0.1:2001',
      },
      false,
    ],
  ])('%s', (_, environment, isTraced) => {
    expect(openTrace(environment) !== null).toBe(isTraced)
  })

  it('costs nothing where no daemon listens', async () => {
    const trace = openTrace({ _X_AMZN_TRACE_ID: header, AWS_XRAY_DAEMON_ADDRESS: '127.0.0.1:1' })
    await expect(
      trace?.send([{ name: 'read', startMs: 1, endMs: 2, isFailed: false }]),
    ).resolves.toBeUndefined()
  })
})
