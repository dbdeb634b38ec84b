"""Push notification configurations of a2a-sdk 0.2 and 0.3, and the neutral ones."""

import push_cases
from a2a.types import PushNotificationAuthenticationInfo, PushNotificationConfig, TaskPushNotificationConfig


def webhook(it):
    authentication = None
    if it.scheme:
        authentication = PushNotificationAuthenticationInfo(schemes=[it.scheme], credentials=it.credentials)
    return PushNotificationConfig(url=it.url, id=it.id, token=it.token, authentication=authentication)


def of_task(id, it):
    return TaskPushNotificationConfig(task_id=id, push_notification_config=webhook(it))


def hook(it):
    config = it.push_notification_config
    how = config.authentication
    scheme, credentials = (how.schemes[0], how.credentials) if how else (None, None)
    return push_cases.Hook(config.url, config.id, config.token, scheme, credentials)
