/** Ends a run with the line `N passed, N failed`, alone and last: what the CI reads. Before it stands a line for each failure. */
import type { Reporter, TestModule } from 'vitest/node'

export default class CountReporter implements Reporter {
  /** A file that does not load, or does not clean up, and an error outside of all tests count as one failure each. */
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    const failures = unhandledErrors.map(error => `outside of a test: ${messageOf(error)}`)
    for (const module of modules) {
      const file = module.relativeModuleId
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result()
        count[state] += 1
        if (state === 'failed')
          failures.push(`${file} > ${test.fullName}: ${messageOf(errors?.[0])}`)
      }
      const [error] = module.errors()
      if (error !== undefined) failures.push(`${file}: ${messageOf(error)}`)
    }
    const skipped = count.skipped + count.pending
    process.on('exit', () => {
      for (const failure of failures) console.log(`FAILED ${failure}`)
      console.log(
        `${count.passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
      )
    })
  }
}

/** First line of the message, at most 300 characters. */
const messageOf = (error: unknown): string =>
  String((error as { message?: unknown } | undefined)?.message ?? error)
    .split('\n', 1)[0]
    ?.slice(0, 300) ?? ''
