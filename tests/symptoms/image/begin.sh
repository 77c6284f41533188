kubectl create deployment web --image=registry.invalid/web:1
