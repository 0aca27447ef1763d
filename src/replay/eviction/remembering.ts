/**
 * Results that depend on their arguments alone, kept for the passes that need them again. Pods and statistics are never changed once
 * they are parsed, so that the same object is the same question.
 */
interface Known<Answer> {
  question: readonly unknown[]
  answer: Answer
}

/** As many as there are signals, and some of another layout or kubelet. */
const keptQuestions = 16

/**
 * Nodes are replayed one after another, so that memory of one node's statistics is enough. A WeakMap would remember more, but the collector of
 * short-lived objects keeps alive what it holds: all pods of all nodes.
 *
 * @returns the remembered result, or that of `compute`. Other statistics clear the memory.
 */
export function remembering<Answer>(): (
  podStats: object,
  question: readonly unknown[],
  compute: () => Answer,
) => Answer {
  let remembered: object | null = null
  let known: Known<Answer>[] = []
  return (podStats, question, compute) => {
    if (podStats !== remembered) known = []
    remembered = podStats
    const same = known.find(asked =>
      asked.question.every((part, index) => part === question[index]),
    )
    if (same) return same.answer
    const answer = compute()
    known = [{ question, answer }, ...known.slice(0, keptQuestions - 1)]
    return answer
  }
}
