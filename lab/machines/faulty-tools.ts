/** Programs of a node on which a change goes wrong, in place of its ordinary ones. */
import type { ChangeFault, SwapMoment } from './start.ts'

/**
 * @param node its folder
 * @param bin where its ordinary programs are
 * @param find where this machine has a program; null: it does not
 */
export function faultyTools(
  fault: ChangeFault,
  node: string,
  bin: string,
  find: (name: string) => string | null,
): Record<string, string> {
  switch (fault.kind) {
    case 'agent-lost':
    case 'replaced':
      return {
        mv: striking(node, `${bin}/mv`, fault.when, swapsFile),
        apiclient: striking(node, `${bin}/apiclient`, fault.when, setsSettings),
      }
    case 'disk-full':
      return {
        cat: short(node, `${bin}/cat`, find('readlink') ?? 'readlink', fault.from === 'write'),
      }
    case 'clock-skew':
      return { date: ahead(`${bin}/date`, Math.trunc(fault.byMs / 1000)) }
    case 'never-up':
    case 'only-old':
    case 'sick':
      return {}
  }
}

/** What is kept for the way back is moved, too. */
const swapsFile = `for last; do :; done
case $last in "$HIGHWATER_ROOT"/var/lib/highwater/*) exec "$real" "$@" ;; esac`
const setsSettings = '[ "$1" = set ] || exec "$real" "$@"'

/** Strikes once. The script is ended with all that it has started, as when the machine goes. */
const striking = (node: string, real: string, when: SwapMoment, isSwap: string) => `#!/bin/sh
real='${real}'
${isSwap}
[ ! -e '${node}/struck' ] || exec "$real" "$@"
: >'${node}/struck'
${when === 'before-swap' ? '' : '"$real" "$@" || exit\n'}: >"$HIGHWATER_LAB_RUN/struck"
${when === 'end' ? 'exit 0' : `read -r pid <"$HIGHWATER_LAB_RUN/pid"\nkill -s KILL -- "-$pid"`}
`

/** A name can be made on a full disk, and nothing be written under it. */
const short = (node: string, real: string, readlink: string, fromTheStart: boolean) => `#!/bin/sh
to=$('${readlink}' /proc/$$/fd/1)
case $to in
  "$HIGHWATER_ROOT"/*)
    if ${fromTheStart ? ':' : `[ -e '${node}/full' ]`}; then
      '${real}' "$@" | head -c 10
      echo 'cat: write error: No space left on device' >&2
      exit 1
    fi
    ;;
esac
exec '${real}' "$@"
`

const ahead = (real: string, seconds: number) => `#!/bin/sh
exec '${real}' -d "@$(($('${real}' +%s) + ${seconds}))" "$@"
`
