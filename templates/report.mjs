/**
 * Filter, sort, search, links that keep them, copy buttons, and times in the reader's time zone.
 * The page is complete without this script. It is the only script that the page's policy allows; it
 * opens no connection and writes text only as text.
 */
{
  const all = (selector, root = document) => [...root.querySelectorAll(selector)]
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties)
    element.append(...children)
    return element
  }
  const counts = new Intl.NumberFormat('en-US')
  const words = JSON.parse(document.body.dataset.words)
  const shownText = (text, shown, all) =>
    text.replace('{shown}', counts.format(shown)).replace('{all}', counts.format(all))

  /** Texts are cached: reading 5,000 rows at each key press would be slow. */
  const texts = new WeakMap()
  const textOf = element => {
    if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase())
    return texts.get(element)
  }

  const clock = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }
  const day = { year: 'numeric', month: 'short', day: 'numeric' }
  const zone = new Intl.DateTimeFormat(undefined, clock)
  if (zone.resolvedOptions().timeZone !== 'UTC')
    for (const time of all('time[datetime]')) {
      const at = new Date(time.dateTime)
      const isSameDay = at.getDate() === at.getUTCDate()
      const shown = isSameDay ? zone : new Intl.DateTimeFormat(undefined, { ...day, ...clock })
      time.append(make('span', { className: 'local' }, ` (${shown.format(at)})`))
    }

  const copy = async (button, block) => {
    try {
      await navigator.clipboard.writeText(block.textContent)
    } catch {
      // Some browsers deny the clipboard to pages opened from disk.
      getSelection().selectAllChildren(block)
      document.execCommand('copy')
    }
    button.textContent = words.copied
    setTimeout(() => {
      button.textContent = words.copy
    }, 2000)
  }
  for (const block of all('.fix pre, #plan pre, .command code')) {
    const button = make('button', { type: 'button', className: 'copy' }, words.copy)
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', () => copy(button, block))
    const around = make(block.tagName === 'PRE' ? 'div' : 'span', { className: 'copied' })
    block.replaceWith(around)
    around.append(block, button)
  }

  /** Section and filter from the address: `#findings?severity=high&text=prod`. */
  const parse = () => {
    const [section, query = ''] = location.hash.slice(1).split('?')
    return { section: decoded(section), wanted: new URLSearchParams(query) }
  }
  const decoded = text => {
    try {
      return decodeURIComponent(text)
    } catch {
      // An invalid escape in a link is ignored.
      return text
    }
  }
  const keep = (section, fields) => {
    const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''))
    history.replaceState(null, '', `#${section}${query.size > 0 ? `?${query}` : ''}`)
  }

  const bars = new Map()
  /**
   * Puts a bar of controls before `place`; `apply` gets their values and returns the text of the
   * count.
   */
  const filterBar = (section, title, place, controls, apply) => {
    const status = make('output', { className: 'shown' })
    const bar = make('form', { className: 'filter' })
    bar.setAttribute('role', 'search')
    bar.setAttribute('aria-label', title)
    for (const { name, label, field } of controls) {
      field.name = name
      bar.append(make('label', {}, make('span', {}, label), field))
    }
    bar.append(make('button', { type: 'reset' }, words.clear), status)
    const values = () => Object.fromEntries(controls.map(({ name, field }) => [name, field.value]))
    const run = () => {
      status.textContent = apply(values())
    }
    const change = () => {
      run()
      keep(section, values())
    }
    bar.addEventListener('submit', event => event.preventDefault())
    bar.addEventListener('input', change)
    bar.addEventListener('reset', () => setTimeout(change))
    place.before(bar)
    bars.set(section, wanted => {
      for (const { name, field } of controls) field.value = wanted.get(name) ?? ''
      run()
    })
    run()
  }
  const search = () => make('input', { type: 'search', autocomplete: 'off', spellcheck: false })
  const choice = (any, values, names = {}) => {
    const select = make('select', {}, make('option', { value: '' }, any))
    for (const value of values) select.append(make('option', { value }, names[value] ?? value))
    return select
  }
  const distinct = (elements, key) => [
    ...new Set(elements.flatMap(({ dataset }) => dataset[key] ?? [])),
  ]
  const has = (element, words) => words.every(word => textOf(element).includes(word))
  const wordsOf = text => text.toLowerCase().split(/\s+/).filter(Boolean)

  const findings = document.getElementById('findings')
  const found = all('[data-severity]', findings)
  if (found.length > 1) {
    const cards = all('details[data-severity]', findings)
    const place = cards[0]?.parentElement
    const orders = {
      nodes: (a, b) => b.dataset.nodes - a.dataset.nodes,
      newest: (a, b) => (b.dataset.since ?? '').localeCompare(a.dataset.since ?? ''),
      cluster: (a, b) => a.dataset.cluster.localeCompare(b.dataset.cluster),
    }
    let order = ''
    const controls = [
      { name: 'text', label: words.search, field: search() },
      {
        name: 'severity',
        label: words.severity,
        field: choice(words.any, distinct(found, 'severity'), words.severities),
      },
      {
        name: 'cluster',
        label: words.cluster,
        field: choice(words.any, distinct(found, 'cluster').toSorted()),
      },
      {
        name: 'family',
        label: words.family,
        field: choice(words.any, distinct(found, 'family').toSorted()),
      },
      {
        name: 'sort',
        label: words.order,
        field: choice(words.worstFirst, Object.keys(orders), words.orders),
      },
    ]
    filterBar(
      'findings',
      words.filterFindings,
      place ?? findings.lastElementChild,
      controls,
      ({ text, severity, cluster, family, sort }) => {
        const wanted = wordsOf(text)
        let shown = 0
        for (const element of found) {
          const { dataset } = element
          const fits =
            (severity === '' || dataset.severity === severity) &&
            (cluster === '' || dataset.cluster === cluster) &&
            (family === '' || dataset.family === family) &&
            has(element, wanted)
          element.hidden = !fits
          if (fits) shown += 1
        }
        if (sort !== order && place)
          place.append(...(sort in orders ? cards.toSorted(orders[sort]) : cards))
        order = sort
        return shownText(words.shown, shown, found.length)
      },
    )
  }

  /** Larger results are not unfolded: their layout would be slow at each key press. */
  const unfoldedAtMost = 200
  const nodes = document.getElementById('nodes')
  const groupOf = (group, title, table) => ({
    group,
    title,
    items: all('.node, tr', group).filter(item => !item.closest('thead') && !item.contains(title)),
    table,
    isUnfolded: false,
    shown: 0,
  })
  /** One per section, or one per table body if groups share a table. */
  const groups = all('.group', nodes).flatMap(group => {
    const table = group.querySelector('.node-rows')
    const bodies = all('tbody[id]', group)
    if (bodies.length === 0) return [groupOf(group, group.querySelector('header'), table)]
    return bodies.map(body => groupOf(body, body.querySelector('.part > th'), table))
  })
  const nodeCount = groups.reduce((sum, { items }) => sum + items.length, 0)
  if (nodeCount > 1) {
    filterBar(
      'nodes',
      words.filterNodes,
      groups[0].group,
      [{ name: 'text', label: words.searchNodes, field: search() }],
      ({ text }) => {
        const wanted = wordsOf(text)
        for (const one of groups) {
          // Words can be in the group's title and in the node's row.
          const left = wanted.filter(word => !textOf(one.title).includes(word))
          one.shown = 0
          for (const item of one.items) {
            const fits = left.length === 0 || has(item, left)
            if (item.hidden === fits) item.hidden = !fits
            if (fits) one.shown += 1
          }
          one.group.hidden = one.shown === 0
        }
        const left = new Set(
          groups.filter(one => one.shown > 0).map(one => one.group.closest('.group')),
        )
        for (const section of all('.group', nodes)) section.hidden = !left.has(section)
        const shown = groups.reduce((sum, one) => sum + one.shown, 0)
        const isUnfolded = wanted.length > 0 && shown <= unfoldedAtMost
        for (const one of groups) {
          if (!one.table || isUnfolded === one.isUnfolded) continue
          one.table.open = isUnfolded
          one.isUnfolded = isUnfolded
        }
        return shownText(words.nodesShown, shown, nodeCount)
      },
    )
  }

  const units = { B: 0, KiB: 1, MiB: 2, GiB: 3, TiB: 4, PiB: 5 }
  const spans = { d: 86_400, h: 3600, min: 60, s: 1, ms: 0.001 }
  const spanOf = new Map(
    Object.entries(words.durations).map(([unit, word]) => [word.trim(), spans[unit]]),
  )
  const durations = new RegExp(`(\\d+)\\s?(${[...spanOf.keys()].join('|')})(?![a-z])`, 'g')
  /** Sort value of a cell: percents, bytes, durations, counts; null: text. */
  const worth = text => {
    if (words.least.some(word => text.startsWith(word))) return -1
    if (text === '' || ['–', ...words.notKnown].some(word => text.startsWith(word)))
      return Number.POSITIVE_INFINITY
    const times = [...text.matchAll(durations)]
    if (times.length > 0)
      return times.reduce((sum, [, count, unit]) => sum + count * spanOf.get(unit), 0)
    const [, number, unit] = /^(-?[\d,.]+)\s*([KMGTP]?i?B)?/.exec(text.replace('<', '')) ?? []
    return number === undefined
      ? null
      : Number(number.replaceAll(',', '')) * 1024 ** (units[unit] ?? 0)
  }
  for (const table of all('table.sortable')) {
    const headers = all('thead th', table)
    for (const [index, header] of headers.entries()) {
      const button = make('button', { type: 'button' }, ...header.childNodes)
      header.append(button)
      button.addEventListener('click', () => {
        const isUp = header.getAttribute('aria-sort') === 'ascending'
        for (const other of headers) other.removeAttribute('aria-sort')
        header.setAttribute('aria-sort', isUp ? 'descending' : 'ascending')
        const body = table.tBodies[0]
        const keyed = [...body.rows].map(row => {
          const text = row.cells[index]?.textContent.trim() ?? ''
          return {
            row,
            text,
            value:
              row.cells.length < headers.length && index > 1
                ? Number.POSITIVE_INFINITY
                : worth(text),
          }
        })
        const isNumber = keyed.every(({ value }) => value !== null)
        const compare = isNumber
          ? (a, b) => (a.value === b.value ? 0 : a.value - b.value)
          : (a, b) => a.text.localeCompare(b.text, document.documentElement.lang, { numeric: true })
        keyed.sort((a, b) => (isUp ? compare(b, a) : compare(a, b)))
        body.append(...keyed.map(({ row }) => row))
      })
    }
  }

  const follow = () => {
    const { section, wanted } = parse()
    if (wanted.size > 0 && bars.has(section)) {
      bars.get(section)(wanted)
      document.getElementById(section).open = true
      document.getElementById(section).scrollIntoView()
      return
    }
    let element = document.getElementById(section)
    if (element?.hidden) bars.get('findings')?.(new URLSearchParams())
    const target = element
    for (; element; element = element.parentElement)
      if (element.tagName === 'DETAILS') element.open = true
    target?.scrollIntoView()
  }
  addEventListener('hashchange', follow)
  if (location.hash.length > 1) follow()
}
