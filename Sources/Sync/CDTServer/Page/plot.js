// A chart over numbers or over time: columns or a line, with axes whose numbers are read without a mouse.
import {el, svg, visible} from './dom.js'

/**
 * The shapes are scaled to the room, the texts of the axes are not.
 *
 * @param points In their order, each with `label`, a `value`, which is null in a gap, `href` if a click opens something, and the texts at the
 *   axis: `from`, and `to` if it is an interval.
 * @param format Writes a value at the axis; the name of a point is `title`, or its label with the value.
 */
export function plot(points, {name, format, isLine = false}) {
  const values = points.map(({value}) => value).filter(Number.isFinite)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const y = value => (high - value) / (high - low || 1) * 100
  const width = 100 / points.length
  const middle = (low + high) / 2
  const steps = !values.every(Number.isInteger) || Number.isInteger(middle) ? [high, middle, low] : [high, low]
  const marks = points.map(({value, label, title = `${label}: ${format(value)}`, href}, at) => {
    if (!Number.isFinite(value)) return ''
    // The shape may be too small for a click.
    const place = {x: at * width, width}
    const shape = isLine || !value ? '' : svg('rect', {
      class: 'column', x: (at + .08) * width, width: .84 * width, y: Math.min(y(value), y(0)), height: Math.max(.7, Math.abs(y(value) - y(0))),
    })
    return svg(href ? 'a' : 'g', {href, 'aria-label': title, role: href ? null : 'img'},
      svg('title', {}, title), svg('rect', {class: 'hit', ...place, y: 0, height: 100}), shape)
  })
  const path = points.map(({value}, at) => Number.isFinite(value) ? `${Number.isFinite(points[at - 1]?.value) ? 'L' : 'M'}${(at + .5) * width} ${y(value)} h.01` : '')
  const edges = points.at(-1).to !== undefined
  const texts = edges ? [...points.map(({from}) => from), points.at(-1).to] : points.map(({from}) => from)
  // As many as have the same distance.
  const gaps = [5, 4, 3, 2].find(gaps => (texts.length - 1) % gaps === 0) ?? Math.min(4, texts.length - 1)
  const ticks = [...new Set(Array.from({length: gaps + 1}, (_, at) => Math.round(at * (texts.length - 1) / (gaps || 1))))]
  return el('div', {class: 'plot', role: 'group', 'aria-label': name},
    el('div', {class: 'steps'}, steps.map(value => el('span', {}, format(value)))),
    svg('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none'},
      ...[...steps, 0].map(value => svg('path', {class: 'rule', d: `M0 ${y(value)} H100`})), ...marks,
      isLine ? svg('path', {class: 'curve', d: path.join('')}) : ''),
    el('div', {class: texts.some(text => text.length > 5) ? 'ticks long' : 'ticks'}, ticks.map(at => {
      const tick = el('span', {}, visible(texts[at], 16))
      const place = (edges ? at : at + .5) * width
      tick.style.left = `${place}%`
      // The first and the last stay inside.
      tick.style.transform = `translateX(-${place < 6 ? 0 : place > 94 ? 100 : 50}%)`
      return tick
    })))
}
