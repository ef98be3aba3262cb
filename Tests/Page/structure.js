// What a view has and how it is arranged, as lines of text. What is in a row is in one line, with | between, and / where the row goes on below.
// What is in a frame is indented, or in parentheses. There are no sizes, and no values of documents. The argument is whether the head is included.
const marks = {a: 'link', h1: 'heading', h2: 'heading', h3: 'heading', summary: 'menu', select: 'choice', textarea: 'editor', pre: 'text', svg: 'drawing',
               img: 'picture', iframe: 'frame', progress: 'progress', caption: 'caption', legend: 'legend'}
const roles = {radio: 'radio', checkbox: 'checkbox'}
const frames = 'header, nav, main, section, form, dialog, [role=region], .menu > div, [role=listbox]'
const plain = element => (element.ariaLabel ?? (element.labels?.[0]?.querySelector('span') ?? element.labels?.[0] ?? element).textContent).trim().replace(/\s+/g, ' ').replace(/\d\d:\d\d/g, 'time').slice(0, 40)
const isSeen = element => element.checkVisibility({visibilityProperty: true}) && !element.closest('.hidden, .behind, .skip, noscript') && element.getClientRects().length > 0

/** The lines of an element: [] if it has nothing that is seen. */
function lines(element) {
  if (!isSeen(element)) return []
  const name = element.localName
  // Those of the history are named by their queries.
  if (name === 'button' && plain(element).startsWith('{')) return ['button']
  if (element.matches('.read')) return ['button Explain']
  if (name === 'button' || element.matches('.button')) return [`button ${plain(element)}`]
  if (name === 'input') return [`${roles[element.type] ?? 'field'} ${plain(element)}`]
  if (name === 'a' && element.closest('td, li, #conflicts')) return ['link']
  if (element.matches('.json')) return ['JSON']
  if (marks[name]) return [name === 'svg' || name === 'pre' || name === 'img' ? marks[name] : `${marks[name]} ${plain(element)}`]
  if (name === 'table') {
    const columns = [...element.querySelectorAll('thead th')].filter(isSeen).map(plain)
    return [`table ${plain(element.caption ?? element).slice(0, element.caption || element.ariaLabel ? 40 : 0)}: ${columns.join(', ') || 'no columns'}`.replace(' :', ':')]
  }
  const inner = group(element)
  if (!inner.length || !element.matches(frames)) return inner
  const label = document.getElementById(element.getAttribute('aria-labelledby'))?.textContent ?? element.ariaLabel
  const title = `${element.role ?? name}${label ? ' ' + label.slice(0, 40) : ''}`
  return inner.length === 1 && name !== 'main' ? [`${title} (${inner[0]})`] : [title, ...inner.map(line => '  ' + line)]
}

/** What is in an element, in rows: those of its parts whose middles are at the height of another are beside it. */
function group(element) {
  const isFlow = getComputedStyle(element).display === 'flex' || /^(p|label|li|summary|ul)$/.test(element.localName)
  const parts = []
  for (const child of element.childNodes) {
    // The text of a label is the name of its field.
    if (element.closest('label, legend') && child.localName !== 'input' && child.localName !== 'select') continue
    if (child.nodeType === 3 && child.data.trim() && isSeen(element)) parts.push({lines: ['text'], box: null})
    else if (child.nodeType === 1) {
      const inner = lines(child)
      if (inner.length) parts.push({lines: inner, box: child.getBoundingClientRect()})
    }
  }
  const rows = []
  for (const part of parts) {
    const row = rows.at(-1)
    const isBeside = row && (isFlow || !part.box || !row.at(-1).box || part.box.top < row.at(-1).box.bottom - 4 && part.box.left >= row.at(-1).box.right - 4)
    if (isBeside) row.push(part)
    else rows.push([part])
  }
  const isText = row => row?.length === 1 && row[0].lines.length === 1 && row[0].lines[0] === 'text'
  return rows.filter((row, at) => !isText(row) || !isText(rows[at - 1])).flatMap(row => {
    if (row.length === 1) return row[0].lines
    if (row.every(part => part.lines.length === 1)) {
      // Where texts of documents are, the length of a row varies.
      const isFixed = row.every(part => part.lines[0] !== 'text')
      return [row.reduce((line, part, at) => {
        if (/^(text|button|link)$/.test(part.lines[0]) && row[at - 1]?.lines[0] === part.lines[0]) return line
        return line + (!at ? '' : isFixed && part.box.top >= row[at - 1].box.bottom - 4 ? ' / ' : ' | ') + part.lines[0]
      }, '')]
    }
    if (isFlow) return row.flatMap(part => part.lines)
    return row.flatMap((part, at) => [at ? 'beside' : 'left', ...part.lines.map(line => '  ' + line)])
  })
}
return [...arguments[0] ? ['header'] : [], 'main', 'dialog[open]:not(main *)'].flatMap(selector => [...document.querySelectorAll(selector)].flatMap(lines))
