// The menus of the views: they stay in the window, and close by Escape, a click elsewhere, or another menu.
import {el} from './dom.js'

function closeOthers(except) {
  for (const menu of document.querySelectorAll('.menu[open]')) if (menu !== except) menu.open = false
}

document.addEventListener('pointerdown', ({target}) => closeOthers(target.closest('.menu')))
document.addEventListener('keydown', event => {
  const menu = event.key === 'Escape' && event.target.closest('.menu[open]')
  if (!menu) return
  menu.open = false
  menu.firstChild.focus()
})
// At the right edge of the window, a menu opens to the left.
document.addEventListener('toggle', ({target}) => {
  if (!target.matches('.menu')) return
  const {style} = target.lastChild
  style.left = ''
  const excess = target.lastChild.getBoundingClientRect().right - document.documentElement.clientWidth + 16
  if (excess > 0) style.left = `${-excess}px`
}, true)

/** A menu, which closes when something in it is chosen. */
export function menuOf(label, attributes, ...items) {
  const {class: kind = '', ...named} = attributes
  const menu = el('details', {class: `menu ${kind}`.trim()}, el('summary', named, label), el('div', {}, items))
  menu.addEventListener('click', ({target}) => { if (target.closest('button, a')) menu.open = false })
  return menu
}
