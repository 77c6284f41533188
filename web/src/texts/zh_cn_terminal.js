/** Chinese texts of terminals and of ports; the terms are those of `docs/zh-CN/terms.md`. */

/** @type {import("./catalogue.js").Catalogue} */
export default {
  "detail.tab.terminal": "终端",
  "terminal.label": "容器 {container} 中的终端",
  "terminal.container": "容器",
  "terminal.command": "命令",
  "terminal.own": "其他命令",
  "terminal.own_label": "要运行的命令",
  "terminal.open": "打开终端",
  "terminal.full": "最多同时打开 {count} 个终端。请关闭一个。",
  "terminal.reader": "屏幕阅读器",
  "terminal.reader_hint": "让屏幕阅读器读出输出",
  "terminal.tabs": "终端",
  "terminal.copy": "复制所选内容",
  "terminal.close": "关闭此终端",
  "terminal.none": "没有打开的终端",
  "terminal.none_hint": "请选择容器和命令。服务器的审计日志会记录谁打开了终端。",
  "terminal.not_running": "Pod 未运行",
  "terminal.not_running_hint": "终端只能在运行中的容器里打开。",
  "terminal.keys": "Ctrl+Shift+C 复制，Ctrl+Shift+V 粘贴，Shift+Esc 离开终端。",
  "terminal.dropped": "输出过快：已丢弃 {count} 字节",
  "terminal.exit": "退出码为 {code}。",
  "terminal.ended": "命令已结束",
  "terminal.lost": "连接已断开",
  "terminal.reconnect": "重新连接",
  "terminal.again": "再次运行",
};
