"""Texts of the front pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scripts.site.kinds import EXPLANATION, HOW_TO, REFERENCE, TUTORIAL
from scripts.site.places import CHINESE


@dataclass(frozen=True, slots=True)
class Card:
    """A way into the documentation."""

    title: str
    text: str
    path: str
    """Page, as the path of its English Markdown."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of one front page."""

    title: str
    lead: str
    start: str
    install: str
    result: str
    result_note: str
    facts: Mapping[str, str]
    readers_title: str
    readers: Sequence[Card]
    picture_title: str
    picture_text: str
    picture_more: str
    drawing: Mapping[str, str]
    kinds_title: str
    kinds: Mapping[str, str]


ENGLISH: Final = Texts(
    title="Kubernetes’ declarative API, in Python",
    lead="An API server for kubectl, helm and client libraries. Control loops, a scheduler and nodes. A toolkit to "
    "write and test operators. One command starts it, and you can read all of it.",
    start="Read the book",
    install="Install",
    result="A result in 30 seconds",
    result_note="In a checkout, with Python 3.11, make and kubectl. The first start installs what it needs.",
    facts={
        "conformance": "conformance tests of Kubernetes {version} pass on two nodes",
        "start": "to start a cluster in a test, in the test’s own process",
        "creates": "creates a second on two cores, stored in SQLite",
        "memory": "of memory for the server in the same benchmark",
    },
    readers_title="Start where you are",
    readers=(
        Card(
            "Write an operator",
            "Typed kinds, caches, controllers and leader election, with the words of controller-runtime.",
            "operators.md",
        ),
        Card(
            "Test an operator",
            "A cluster in the test’s process, virtual time, and every fault tried in turn.",
            "testing-tutorial.md",
        ),
        Card(
            "Test in Go, Rust or Java",
            "A replacement for envtest that starts in less than a second.",
            "testing-any-language.md",
        ),
        Card(
            "Build a platform",
            "CRDs, CEL rules, RBAC, admission and audit for things that are not containers.",
            "running.md",
        ),
        Card(
            "Run a small cluster",
            "Containers with containerd, local processes, Services and DNS on a few machines.",
            "nodes.md",
        ),
        Card(
            "Understand Kubernetes",
            "Ideas, pictures, the files to read and experiments, from the request to the container.",
            "reading/index.md",
        ),
    ),
    picture_title="You declare a state; loops make it real",
    picture_text="Each part uses the same HTTP API. The server stores objects and reports changes. Control loops, the "
    "scheduler and nodes watch objects, compare the desired with the actual state, and remove the difference. Your "
    "operator is one more loop.",
    picture_more="How Kubernetes works, by reading Sampan",
    drawing={
        "label": "Clients write objects to the API server, which stores them in SQLite or etcd. Controllers, the "
        "scheduler, nodes and your operator watch the objects and write their status.",
        "clients": "Clients",
        "clients_note": "kubectl, helm, libraries",
        "server": "API server",
        "steps": "authenticate|authorize|admit|validate|store",
        "store": "SQLite or etcd",
        "controllers": "Controllers",
        "controllers_note": "Deployments, Jobs, …",
        "scheduler": "Scheduler",
        "scheduler_note": "a node for each Pod",
        "nodes": "Nodes",
        "nodes_note": "containers, processes",
        "operator": "Your operator",
        "operator_note": "a kind of your own",
        "write": "write",
        "watch": "watch",
    },
    kinds_title="Four kinds of pages",
    kinds={
        TUTORIAL: "Tutorials and the book: from nothing to an operator that survives every fault.",
        HOW_TO: "Steps for one task: operators, servers, nodes, migrations.",
        REFERENCE: "Every command, option, kind, field, metric, error and name of the Python API.",
        EXPLANATION: "How Kubernetes works, why Sampan is as it is, and how it compares.",
    },
)
CHINESE_TEXTS: Final = Texts(
    title="Kubernetes 声明式 API，用 Python 写成",
    lead="面向 kubectl、helm 和各种客户端库的 API server，加上控制循环、调度器和节点，以及编写和测试 operator "
    "的工具包。一条命令即可启动，全部代码你都读得懂。",
    start="阅读入门书",
    install="安装",
    result="30 秒看到结果",
    result_note="在源码目录里运行，需要 Python 3.11、make 和 kubectl。首次启动会安装其余的依赖。",
    facts={
        "conformance": "项 Kubernetes {version} 一致性测试在两个节点上通过",
        "start": "在测试进程内启动一个集群",
        "creates": "每秒创建的对象数，两个核，存储在 SQLite",
        "memory": "同一基准测试中服务器占用的内存",
    },
    readers_title="从你的需要开始",
    readers=(
        Card("编写 operator", "带类型的资源、缓存、控制器和选主，用语与 controller-runtime 一致。", "operators.md"),
        Card("测试 operator", "在测试进程里运行集群，使用虚拟时间，逐个尝试所有故障。", "testing-tutorial.md"),
        Card("用 Go、Rust 或 Java 测试", "envtest 的替代品，不到一秒启动。", "testing-any-language.md"),
        Card("搭建平台", "为容器以外的东西提供 CRD、CEL 规则、RBAC、准入控制和审计。", "running.md"),
        Card("运行小集群", "在几台机器上运行 containerd 容器、本地进程、Service 和 DNS。", "nodes.md"),
        Card("弄懂 Kubernetes", "从请求到容器：概念、图、要读的文件和实验。", "reading/index.md"),
    ),
    picture_title="你声明状态，循环把它变成现实",
    picture_text="各个部分都使用同一套 HTTP API。服务器存储对象并通知变化；控制循环、调度器和节点监视对象，比较期望"
    "状态与实际状态，然后消除差异。你的 operator 也是这样的一个循环。",
    picture_more="通过阅读 Sampan 弄懂 Kubernetes",
    drawing={
        "label": "客户端把对象写入 API server，由它存进 SQLite 或 etcd。控制器、调度器、节点和你的 operator 监视对象，"
        "并写回状态。",
        "clients": "客户端",
        "clients_note": "kubectl、helm、客户端库",
        "server": "API server",
        "steps": "认证|鉴权|准入控制|校验|存储",
        "store": "SQLite 或 etcd",
        "controllers": "控制器",
        "controllers_note": "Deployment、Job 等",
        "scheduler": "调度器",
        "scheduler_note": "为每个 Pod 选择节点",
        "nodes": "节点",
        "nodes_note": "容器、进程",
        "operator": "你的 operator",
        "operator_note": "你自己的类型",
        "write": "写入",
        "watch": "监视",
    },
    kinds_title="四类页面",
    kinds={
        TUTORIAL: "教程和入门书：从零开始，写出经得起各种故障的 operator。",
        HOW_TO: "完成一件事的步骤：operator、服务器、节点、迁移。",
        REFERENCE: "所有命令、选项、类型、字段、指标、错误和 Python API 的名称。",
        EXPLANATION: "Kubernetes 如何工作，Sampan 为何如此设计，与其他项目有何不同。",
    },
)
TEXTS: Final[Mapping[str, Texts]] = {"index.md": ENGLISH, f"{CHINESE}/index.md": CHINESE_TEXTS}
"""By path of the page."""
