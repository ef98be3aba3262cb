// Text that is almost JSON, as the command line corrects it: names and words without quotation marks, single quotes, and a comma behind
// the last member.
import {parse} from './json.js'

const longest = 4_096
const word = /^[\w$.+@/\-\u0080-\uffff]+$/
const tokens = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[\w$.+@/\-\u0080-\uffff]+|[^]/g

/** The JSON that a text was meant to be; null if it is JSON already, or something else. */
export function corrected(text) {
  text = text.trim()
  if (text.length >= longest || isJSON(text)) return null
  const found = text.startsWith('{') ? quoted(text) : null
  return found !== null && isJSON(found) ? found : null
}

/**
 * A line that is likely to be meant where JSON has a fault, and the range that it replaces: the line of the fault with quotation marks, or the
 * one before it with the comma that is missing there or too much. Null if the text then has a fault at or before the same place.
 */
export function correctedLine(text, fault) {
  const start = text.lastIndexOf('\n', fault.start - 1) + 1
  const end = text.indexOf('\n', start) < 0 ? text.length : text.indexOf('\n', start)
  const before = text.slice(0, start).trimEnd()
  const above = {start: before.lastIndexOf('\n') + 1, end: before.length}
  const line = text.slice(start, end)
  const trials = [
    before && !text.slice(start, fault.start).trim() && /is missing$/.test(fault.message)
      && {...above, at: fault.start, text: /,$/.test(before) ? before.slice(above.start, -1) : `${before.slice(above.start)},`},
    line.length < longest && {start, end, text: quoted(line, true)},
    /string/.test(fault.message) && {start, end, text: line.trimEnd().replace(/,?$/, '"$&')},
  ]
  return trials.find(trial => trial && trial.text !== null && trial.text !== text.slice(trial.start, trial.end)
    && isJSON(text.slice(0, trial.start) + trial.text + text.slice(trial.end), (trial.at ?? end) + trial.text.length - (trial.end - trial.start))) || null
}

/** Whether a text is JSON, or has no fault up to a place. */
function isJSON(text, end = Infinity) {
  try {
    parse(text)
    return true
  } catch (error) {
    return error.start > end
  }
}

/**
 * The text with quotation marks around its words; null if a string does not end, or a word may be another value.
 *
 * @param isStrict Whether such words are also digits with several points, which are texts on the command line.
 */
function quoted(text, isStrict = false) {
  const output = []
  for (const {0: token, index} of text.matchAll(tokens)) {
    if (token === '"' || token === "'") return null
    if (token[0] === "'") output.push(JSON.stringify(token.slice(1, -1).replaceAll("\\'", "'")))
    else if (token === ',' && /^\s*[}\]]/.test(text.slice(index + 1))) continue
    else if (!word.test(token) || isJSON(token)) output.push(token)
    else if (/^(true|false|null)$/i.test(token)) output.push(token.toLowerCase())
    else if (/^(none|undefined|nan|infinity)$|[\u2018-\u201f]|^[./+-]/i.test(token)) return null
    // A number with zeros in front stays one.
    else if (/^\d+(\.\d*)?$/.test(token)) {
      const number = token.replace(/^0+(?=\d)/, '')
      if (!isJSON(number)) return null
      output.push(number)
    }
    else if (isStrict && /^[\d._]+$/.test(token)) return null
    else output.push(JSON.stringify(token))
  }
  return output.join('')
}
