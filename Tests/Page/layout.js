// Defects of the layout, as texts: what overlaps, what is cut, and words that are broken. Nothing is judged by its looks: all is measured.
const found = new Set()
const slack = 2
// What lies over the rest on purpose, each with a layer of its own.
const layers = 'dialog, .editing > .actions, .merging > .actions, .menu > div, .completions, #status, thead th, header, #rail, #rail'
const unseen = '.behind, .gutter, .hidden, .tail, .skip:not(:focus), noscript, option'
const isSeen = element => element.checkVisibility({visibilityProperty: true}) && !element.closest(unseen)
const called = element => {
  const name = (element.getAttribute('aria-label') ?? element.innerText ?? element.value ?? '').trim().replace(/\s+/g, ' ')
  return `${element.localName}${element.id && '#' + element.id} "${name.slice(0, 40)}"`
}
const meet = (a, b) => ({
  left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
})
const isEmpty = r => r.right - r.left <= slack || r.bottom - r.top <= slack
const styles = new Map()
const style = element => {
  if (!styles.has(element)) styles.set(element, getComputedStyle(element))
  return styles.get(element)
}
const isInline = element => /^(inline|contents)$/.test(style(element).display)

/** The part of a box that its ancestors let through, and what of it is cut where nobody can scroll. */
function clipped(element, rect, isText) {
  let [seen, scrolled] = [meet(rect, rect), rect]
  for (let outer = element; outer && outer !== document.body; outer = outer.parentElement) {
    const {overflowX, overflowY, position, textOverflow} = style(outer)
    if (overflowX !== 'visible' && !isInline(outer)) {
      // Without its borders and its scrollbars.
      const {left, top} = outer.getBoundingClientRect()
      const [x, y] = [left + outer.clientLeft, top + outer.clientTop]
      const box = {left: x, top: y, right: x + outer.clientWidth, bottom: y + outer.clientHeight}
      const before = seen
      seen = meet(seen, box)
      if (/auto|scroll/.test(overflowX + overflowY)) scrolled = meet(scrolled, box)
      else if (isText && !isEmpty(before)) check(element, outer, before, box, textOverflow === 'ellipsis')
    }
    if (position === 'fixed') break
  }
  if (isText && !isEmpty(scrolled) && scrolled.left < -slack) found.add(`cut by the window: ${called(element)}`)
  return seen
}

/** Reports a text that does not fit into an element that hides what leaves it. */
function check(element, outer, rect, box, hasEllipsis) {
  const [isWide, isTall] = [rect.left < box.left - slack || rect.right > box.right + slack, rect.top < box.top - slack || rect.bottom > box.bottom + slack]
  // A card on a phone has the first fields of a document; its link leads to all of them.
  if (outer.closest('.scroller tr') && (outer.localName === 'tr' && isEmpty(meet(rect, box)) || element.closest('.as-json'))) return
  if (isTall || isWide && !hasEllipsis) found.add(`cut: ${called(element)}`)
  else if (isWide && !element.closest('[title]')) found.add(`cut, and the whole is not on hover: ${called(element)}`)
}

// MARK: What is seen

const texts = []
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
while (walker.nextNode()) {
  const node = walker.currentNode
  const element = node.parentElement
  if (!node.data.trim() || !isSeen(element) || /^(TEXTAREA|SCRIPT|STYLE)$/.test(element.tagName)) continue
  const range = document.createRange()
  range.selectNodeContents(node)
  texts.push({node, element, rects: [...range.getClientRects()].filter(rect => !isEmpty(rect))})
}
const boxes = [...document.querySelectorAll('a, button, input, select, textarea, summary, svg, img, iframe, progress')].filter(isSeen)
  .map(element => ({element, rects: [...element.getClientRects()]}))

// MARK: Overlaps

const items = [...texts.map(text => ({...text, isText: true})), ...boxes].flatMap(({element, rects, isText}) => {
  const layer = element.closest(layers)
  return rects.map(rect => ({element, isText, layer, ...clipped(element, rect, isText)})).filter(item => !isEmpty(item))
}).sort((a, b) => a.top - b.top)
for (const [at, one] of items.entries()) {
  for (let other = at + 1; other < items.length && items[other].top < one.bottom - slack; other++) {
    const two = items[other]
    if (one.layer !== two.layer || isEmpty(meet(one, two))) continue
    // A box has its own texts in it; texts of the same element are in its lines.
    if (one.element.contains(two.element) || two.element.contains(one.element)) continue
    found.add(`overlap: ${called(one.element)} and ${called(two.element)}`)
  }
}

// MARK: Texts that leave their box

for (const {element, rects} of texts) {
  let box = element
  while (box !== document.body && isInline(box)) box = box.parentElement
  if (style(box).overflowX !== 'visible') continue
  const outer = box.getBoundingClientRect()
  // The space at the end of a line may leave the box.
  const space = style(element).whiteSpace === 'pre-wrap' ? 12 : slack
  for (const rect of rects) {
    if (rect.left < outer.left - slack || rect.right > outer.right + space || rect.top < outer.top - 3 || rect.bottom > outer.bottom + 3) {
      found.add(`out of its box: ${called(element)} in ${box.localName}`)
    }
  }
}

// MARK: Broken words

/** Longer ones are ids and paths, which may be broken. */
const longestWord = 24

/** The width that a word may have: of the narrowest block around it. Cells and flexible boxes get theirs from their content. */
function room(element) {
  let least = Infinity
  for (let outer = element; outer && outer !== document.body; outer = outer.parentElement) {
    const {display, maxWidth, paddingLeft, paddingRight, position} = style(outer)
    if (maxWidth.endsWith('px')) least = Math.min(least, parseFloat(maxWidth))
    const isSized = /^table|^inline/.test(display) || /flex/.test(style(outer.parentElement).display) || position === 'absolute'
    if (!isSized) least = Math.min(least, outer.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight))
    if (position === 'fixed') break
  }
  return Math.min(least, innerWidth)
}

for (const {node, element} of texts) {
  if (element.closest('pre, .json, .as-json .value')) continue
  // A hyphen between letters may end a line.
  for (const {0: word, index} of node.data.matchAll(/(?:(?<!\p{L})-|-(?!\p{L})|[^\s-])+/gu)) {
    const range = document.createRange()
    range.setStart(node, index)
    range.setEnd(node, index + word.length)
    const rects = [...range.getClientRects()].filter(rect => rect.width > 0)
    const isBroken = rects.some(rect => rect.top >= rects[0].bottom - slack)
    if (isBroken && word.length <= longestWord && rects.reduce((sum, rect) => sum + rect.width, 0) < room(element) - slack) found.add(`broken word: ${word.slice(0, 40)}`)
  }
}
return [...found]
