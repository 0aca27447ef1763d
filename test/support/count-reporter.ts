/** Ends a run with the line `N passed, N failed`, alone and last: what the CI reads. A file that does not even load counts as one failure. */
import type { Reporter, TestModule } from 'vitest/node'

export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    let broken = unhandledErrors.length
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1
      if (module.errors().length > 0) broken += 1
    }
    const skipped = count.skipped + count.pending
    process.on('exit', () =>
      console.log(
        `${count.passed} passed, ${count.failed + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
      ),
    )
  }
}
