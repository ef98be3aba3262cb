print("cdtquery")
